// runtime: several worker threads that run coroutines, tasks and fibers alike, and take work from each other.
//
//   runtime rt;                                     // one worker for each CPU that the process may use
//   auto sum = spawn(rt, add, 1, 2);                // from any thread
//   int three = sync_wait(std::move(sum));          // or co_await it, or await it in a fiber
//
// What is spawned on a runtime, or by its coroutines, may begin on any worker. A fiber stays with the worker that it
// began on; a task is resumed by whichever worker wakes it, or steals it when another one has more to do than itself.
// So two coroutines of a runtime run at the same time, and what they share is to be protected; the parts of one
// coroutine (the children of a when_all, an eager task) stay on one worker at a time and need no protection from each
// other.
//
// A worker's turn: what other threads posted to it, what was posted to the runtime, what its driver has (if it waits
// for I/O, and not in each turn: core/detail/driver.hpp), timers that are due, then what is ready: its fibers and
// whatever else stays with it, what was forked on it and has not begun, and its tasks; at most 64 each, first in, first
// out (of the forks the last one first, and one alone where what stays does not run out). So fibers, forks, tasks,
// timers and I/O wait for each other for a bounded number of turns. A worker that runs dry looks for work at the
// others, and sleeps if there is none. A worker wakes a sleeper if it has many coroutines to run; or if it has several,
// and its turn has lasted longer than a wake takes.
//
// A coroutine that computes for long delays the coroutines that are bound to its worker: fibers, the children of a
// group that runs there, and the deadlines of a task manager whose alarm is there. Tasks and migratable fibers are
// delayed by 10 to 20 ms. A thread of the runtime watches the workers while any is awake (if there are at least two).
// If a worker has been in one coroutine for 10 to 20 ms, other workers run its ready tasks, and its I/O, timers and
// deadlines are served every 10 ms. (Without membarrier(2), its timers and its waits with a deadline are delayed.)
//
// What a coroutine forks and what it spawns into a scope may run on any worker, too. A child of a fork_join that waits
// goes on where it waited.
//
// Ending. shutdown() ends it in order: refuse, drain, cancel, kill, each with its time, and tells what is left.
// Destroying a runtime refuses further spawns, kills what is left (it unwinds, core/detail/unwind.hpp), waits until it
// has ended, and joins the threads. At check level `debug` a notice (set_log_handler) tells before of each coroutine that
// waits in a circle of them, which is looked for like in dump(). Not from one of its own coroutines, or in a blocking
// call of one: that is fatal. A coroutine that waits for a foreign awaitable cannot be killed: the destructor waits for
// it.
//
// fork(). A child has a runtime's memory and none of its threads. Using it there is fatal (for a coroutine that forked,
// at the latest when its worker has nothing more to run); destroying it there does nothing (its memory is the child's
// to keep), so a child may return from main(). Fork before the first runtime is made, or exec in the child. Loops have
// no threads: they go on in the child, with copies of their coroutines.
//
// Time is the clock of the options. With a clock of one's own (manual_clock) a worker sleeps until something is posted
// to it, whatever its timers say: no machine knows when that clock gets there. Whoever moves it calls clock_moved(),
// and each worker looks at its timers. Such a clock may be moved at any time; what is due fires some time after the
// call.
//
// Threads: every member function, any thread.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/detail/literal_name.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/base/detail/platform/unique_ptr.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn_target.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// A coroutine that holds its worker: it has not let go for `held` at least.
struct stall {
  std::size_t worker;
  const char* coroutine;  // its name, that of the whole for a part of it (a child of a when_all, of a fork_join); "a
                          // coroutine" where the system does not let a process read its own memory
                          // (process_vm_readv). A copy, of 63 bytes at most, for as long as the handler runs
  duration held;
  std::source_location spawned;
};
static_assert(detail::owns_nothing<stall>);
// Hears of a stall, on a thread of its own, once for each. Must not throw.
using stall_handler = void (*)(const stall& of) noexcept;

// Writes a line to the standard error.
void print_stall(const stall& of) noexcept;

// Called on a worker's own thread, with its number. What it throws is fatal.
using worker_hook = void (*)(std::size_t worker);

// What may be said of a runtime.
struct runtime_options {
  std::size_t workers = 0;  // 0: one for each CPU of the process's affinity mask, or fewer by its CPU quota (cgroup)
  literal_name name = "runtime";             // of its threads and unnamed coroutines
  const clock_source* clock = nullptr;        // null: the machine's monotonic clock; outlives the runtime
  unhandled_handler on_unhandled = nullptr;  // null: abort, naming the coroutine

  // A coroutine that holds its worker for so long is told of, once for each time. That takes a thread, which looks at
  // the workers four times in `stall_limit`, and nothing of theirs. The handler runs on that thread, which looks no
  // further meanwhile. It may dump the runtime, and must not end it.
  duration stall_limit = duration::max();  // never; at least 1 ms
  stall_handler on_stall = nullptr;        // null: print_stall

  // A signal, SIGQUIT say, upon which the runtime is dumped to the standard error, by a thread that waits for it. The
  // handler that was there is called, too; ours stays installed when the runtime is gone. 0: none.
  int dump_on_signal = 0;

  worker_hook on_start = nullptr;  // before the worker runs anything: to set its affinity, its priority
  worker_hook on_stop = nullptr;   // after all that it has run
};
static_assert(detail::owns_nothing<runtime_options>);

// How long each step of a shutdown may take.
struct shutdown_options {
  duration drain{};                           // coroutines may end by themselves
  duration cancel = std::chrono::seconds(1);  // then they are cancelled, and may clean up
  duration kill = std::chrono::seconds(1);    // then they are killed, and unwind
  int report = 2;                             // the descriptor to which dumps are written on the way; -1: none
};
static_assert(detail::owns_nothing<shutdown_options>);

// How many coroutines ended in which step.
struct shutdown_report {
  std::size_t drained = 0, cancelled = 0, killed = 0;
  std::size_t remaining = 0;  // that do not let go, or wait for what cannot be killed: the destructor would wait for them
};

// What a worker has done since it began, or all of them; what is ready there now, and what it keeps. What stacks take,
// the depots of the process tell (stack/stack_depot.hpp).
struct runtime_counts {
  std::size_t turns = 0;     // of its loop
  std::size_t resumed = 0;   // coroutines, from its queues
  std::size_t injected = 0;  // came to it from what other threads posted to the runtime
  std::size_t stolen = 0;    // came to it from other workers: coroutines and forks
  std::size_t sleeps = 0;
  std::size_t wakeups = 0;    // sleeps that another thread has ended, by a system call
  std::size_t ready = 0;    // stand where others may take them, about
  std::size_t pinned_ready = 0;    // may run on this worker only, and were ready when its present turn began: fibers, say
  std::size_t assists = 0;  // how often its driver and its timers were looked after, because it seemed to be stuck
  std::size_t frames = 0;  // bytes of frames of tasks that it keeps free, when it looked last: when some were due to be
                           // given back, or 1,024 turns ago
  std::size_t timers = 0;  // that have fired
  duration max_timer_lag{};       // by how much one of them was late, at most
};

namespace detail {
class stall_detector;
class worker;
class worker_at;
class worker_watch;
struct runtime_look;
}  // namespace detail

class runtime final : public executor, public spawn_target {
 public:
  static constexpr std::size_t max_workers = 1024;

  // Throws std::system_error: invalid_argument for more workers than max_workers, or what the system says when it
  // starts no more threads, or of a signal that cannot be handled; std::bad_alloc.
  explicit runtime(const runtime_options& options = {});
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  std::size_t workers() const noexcept;

  // Coroutines that were spawned on it and have not ended.
  std::size_t live() const noexcept;

  // Cancels every coroutine that was spawned on it.
  void cancel_all() noexcept;

  // Ends what runs on it, and tells how; takes as long as the options say at most, and no longer than there is
  // anything left; a dump of a worker that does not come back takes a quarter of a second more, like any, and blocks
  // like write(2). The runtime is there until it is destroyed, but refuses (operation_canceled).
  //   1. refuse: what is spawned from now on; but children of scopes, which belong to what is there, until step 4
  //   2. drain: waits until nothing is left, for `drain` at most
  //   3. cancel: dumps what is left if some of it waits in a circle, which a cancellation may break; cancel_all(), and
  //      waits for `cancel`
  //   4. kill: dumps what is left, kills it, and waits for `kill`
  //   5. dumps what is left even so
  // Not from one of its own coroutines, or in a blocking call of one: that is fatal. Again, or from several threads:
  // each does all of it.
  shutdown_report shutdown(const shutdown_options& options = {});

  // Since the runtime was made; read while the workers run, so the numbers do not belong to one moment.
  runtime_counts counts() const noexcept;
  runtime_counts counts(std::size_t worker) const noexcept;

  // Writes a table of its coroutines, and what loop::dump tells below it. The workers stand still meanwhile. A worker
  // that does not come back from a coroutine within a quarter of a second is named, and of all coroutines only name,
  // kind and place are told then, and no deadlocks. From any thread, a coroutine of the runtime too. Blocks like
  // write(2) on `fd`.
  void dump(int fd) noexcept;

  // After a clock of one's own has moved: has each worker fire what is due by then. Returns before that has happened.
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
  unhandled_handler on_unhandled() const noexcept override;
  bool runs_by_itself() const noexcept override { return true; }

 private:
  friend class detail::worker;
  friend class detail::worker_at;
  friend class detail::worker_watch;
  friend class detail::stall_detector;
  friend struct detail::runtime_look;  // of the tests
  struct state;
  bool is_copy_in_child() const noexcept;
  void expect_threads() const noexcept;
  void end_threads() noexcept;
  template <class Post>
  void inject(Post post_to) noexcept;
  std::error_code admit(std::size_t count, bool children) noexcept;

  std::unique_ptr<state> state_;
};

}}  // namespace hocket
