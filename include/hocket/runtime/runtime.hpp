// runtime: several worker threads that run coroutines, tasks and fibers alike, and steal work from each other.
//
//   runtime rt;                                     // one worker for each CPU that the process may use
//   auto sum = spawn(rt, add, 1, 2);                // from any thread
//   int three = sync_wait(std::move(sum));          // or co_await it, or await it in a fiber
//
// Placement. A coroutine that is spawned on a runtime, or by its coroutines, may begin on any worker. So may a fork,
// and a coroutine spawned into a scope. A fiber stays on the worker on which it began. A task is resumed by the worker
// that wakes it, or by a worker that steals it. A child of a fork_join that waits is resumed where it waited.
//
// Thread safety. All functions may be called from any thread. Two coroutines of a runtime run at the same time, so
// protect the data that they share. The parts of one coroutine (the children of a when_all, an eager task) stay on one
// worker at a time, and need no protection from each other.
//
// A worker's turn has these steps, in this order:
//   1. Takes the work that other threads posted to it.
//   2. Takes the work that was posted to the runtime.
//   3. Polls its driver, if it waits for I/O; not in each turn (core/thread/seam/driver.hpp).
//   4. Fires due timers.
//   5. Resumes its fibers and other coroutines that are pinned to it: at most 64, first in, first out.
//   6. Begins its forks: at most 64, last in, first out; a single fork if pinned coroutines are still ready.
//   7. Resumes its tasks: at most 64, first in, first out.
// So fibers, forks, tasks, timers and I/O wait for each other for a bounded number of turns. An idle worker searches
// the other workers for work, and sleeps if there is none. A worker wakes a sleeper if it has many ready coroutines, or
// if it has several and its turn has lasted longer than a wake takes.
//
// Long computations. A coroutine that computes for long delays the coroutines that are pinned to its worker: fibers,
// the children of a group that runs there, and deadlines of a task manager with its alarm there. It delays tasks
// and migratable fibers by 10 to 20 ms only. If there are at least two workers, a thread of the runtime watches them
// while any worker is awake. If a worker has been in one coroutine for 10 to 20 ms, other workers run its ready tasks,
// and its I/O, timers and deadlines are served every 10 ms. Without membarrier(2), its timers and its waits with a
// deadline are delayed.
//
// Shutdown. shutdown() ends a runtime in order: refuse, drain, cancel, kill, each with a time limit, and reports the
// rest. The destructor refuses further spawns, kills the remaining coroutines (they unwind,
// core/wait/seam/unwind.hpp), waits for their end, and joins the threads. At check level `debug`, a log message
// (set_log_handler) first names each coroutine of a circle of coroutines that wait for one another, which is found as
// in dump(). The destructor is fatal in a coroutine of the runtime, or in a blocking call of such a coroutine. A
// coroutine that waits for a foreign awaitable cannot be killed: the destructor waits for it.
//
// fork(). A child process has the runtime's memory, and none of its threads. In the child, use of the runtime is fatal
// (for a coroutine that forked, when its worker has no more work, at the latest). Destruction there does nothing, and
// the memory stays allocated, so a child may return from main(). Fork before the first runtime is constructed, or exec
// in the child. Loops have no threads: they continue in the child, with copies of their coroutines.
//
// Time. A runtime uses the clock of its options. With a clock of the program's own (manual_clock) a worker sleeps until
// a post, whatever its timers, because the system cannot wait for that clock. The program calls clock_moved() after it
// has moved the clock, and each worker then looks at its timers. Such a clock may move at any time. A due timer fires
// some time after the call.
#pragma once
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/runtime/detail/runtime_options.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class coroutine_snapshot;
class worker_at;
struct runtime_look;
struct runtime_state;
}  // namespace detail

// A pool of worker threads that steal work from each other.
class runtime final : public executor, public spawn_target {
 public:
  static constexpr std::size_t max_workers = 1024;

  // Throws std::system_error: invalid_argument for more than max_workers; the system's error if it starts no more
  // threads, or if a signal cannot be handled. Throws std::bad_alloc.
  explicit runtime(const runtime_options& options = {});
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  // The number of workers.
  std::size_t workers() const noexcept;

  // The number of coroutines that were spawned on the runtime and have not ended.
  std::size_t live() const noexcept;

  // Cancels every coroutine that was spawned on the runtime.
  void cancel_all() noexcept;

  // Ends the coroutines of the runtime. Returns the numbers of coroutines that ended in each step, as soon as none is
  // left, or when the time limits have passed.
  //   1. refuse: refuses spawns from now on (operation_canceled). Children of scopes belong to the present coroutines,
  //      and are refused from step 4 on.
  //   2. drain: waits until no coroutine but daemons is left, for `drain` at most.
  //   3. cancel: cancels the daemons, if only daemons are left. Otherwise dumps the rest if it has a circle of waiting
  //      coroutines, which a cancellation may break, and calls cancel_all(). Waits for `cancel` at most.
  //   4. kill: dumps the rest, kills it, and waits for `kill` at most.
  //   5. Dumps the coroutines that are left.
  // The dumps add to the time limits: a dump takes another quarter of a second if a worker is stuck in a coroutine, and
  // blocks like write(2). The runtime exists until it is destroyed. Fatal in a coroutine of the runtime, or in its
  // blocking call. Repeated calls, and calls from several threads, each do all steps.
  shutdown_report shutdown(const shutdown_options& options = {});

  // Counters since construction. The workers run meanwhile, so the numbers do not belong to one moment.
  runtime_counts counts() const noexcept;
  runtime_counts counts(std::size_t worker) const noexcept;

  // Writes a table of the runtime's coroutines, and below it the lines of loop::dump. Workers are stopped meanwhile.
  // If a worker does not return from a coroutine within a quarter of a second, the dump names both. Then the rows of
  // the coroutines that began on that worker have only name, kind and place. The other rows are complete, and deadlocks
  // among them are found, unless the worker leaves its coroutine during the dump. Any thread, also in a coroutine of
  // the runtime. Blocks like write(2) on `fd`.
  void dump(int fd) noexcept;

  // Called after a clock of the program's own has moved. Each worker fires the timers that are due. Returns before they
  // have fired.
  void clock_moved() noexcept;

  // executor, spawn_target
  void post_from_outside(detail::runnable& work) noexcept override;
  void post_all_from_outside(const detail::runnables& works) noexcept override;
  detail::timer_service* timers() noexcept override;
  detail::driver_access drivers() noexcept override;
  void offer() noexcept override;
  void offer_fork() noexcept override;
  spawn_target* target() noexcept override { return this; }
  executor& home() noexcept override { return *this; }
  context& parent_context() noexcept override;
  std::error_code enroll(std::size_t count) noexcept override;
  std::error_code enroll_children(std::size_t count) noexcept override;
  void leave() noexcept override;
  spawn_target& daemons() override;
  std::error_code enroll_daemons(std::size_t count, bool are_children) noexcept override;
  void leave_daemon() noexcept override;
  unhandled_handler on_unhandled() const noexcept override;
  bool runs_by_itself() const noexcept override { return true; }

 private:
  friend class detail::coroutine_snapshot;
  friend class detail::worker_at;
  friend struct detail::runtime_look;  // in tests
  void end_threads() noexcept;
  template <class Post>
  void inject(Post post) noexcept;

  std::unique_ptr<detail::runtime_state> state_;
};

}}  // namespace hocket
