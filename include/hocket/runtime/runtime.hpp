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
// A worker's turn: what other threads posted to it, what was posted to the runtime, timers that are due, its fibers and
// then its tasks that are ready, at most 64 each, first in, first out. A worker that runs dry looks for work at the
// others, and sleeps if there is none; one that has more than it is about to run wakes a sleeper. While some worker is
// awake one of those that are not looks now and then whether another is stuck in a coroutine that does not let go, and
// takes over what is ready there: what is ready elsewhere than on that worker's own fibers is never held up for long.
//
// Each worker has timers of its own: a deadline fires on the worker where the wait began. While that one is stuck in a
// coroutine that does not let go, a wait with a deadline that began there does not end, whoever grants it.
//
// What a coroutine forks and what it spawns into a scope may run on any worker, too. A child of a fork_join that waits
// goes on where it waited.
//
// Destroying a runtime refuses further spawns, kills what is left (it unwinds, core/unwind.hpp), waits until it has
// ended, and joins the threads. Not from one of its own coroutines: that is fatal. A coroutine that waits for a foreign
// awaitable cannot be killed: the destructor waits for it.
//
// Time is the clock of the options. With a clock of one's own (manual_clock) a worker sleeps until something is posted
// to it, whatever its timers say: no machine knows when that clock gets there. Whoever moves it calls clock_moved(),
// and each worker looks at its timers. Such a clock may be moved at any time; what is due fires some time after the
// call.
//
// Threads: every member function, any thread.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn_target.hpp>
#include <memory>

namespace hocket::inline HOCKET_ABI {

struct runtime_options {
  std::size_t workers = 0;  // 0: one for each CPU of the process's affinity mask, or fewer by its CPU quota (cgroup)
  const char* name = "runtime";              // of its threads and unnamed coroutines; a literal
  const clock* time = nullptr;               // null: the machine's monotonic clock; outlives the runtime
  unhandled_handler on_unhandled = nullptr;  // null: abort, naming the coroutine
};

class runtime final : public executor, public spawn_target {
 public:
  static constexpr std::size_t most_workers = 1024;

  // Throws std::system_error: invalid_argument for more workers than most_workers, or what the system says when it
  // starts no more threads; std::bad_alloc.
  explicit runtime(const runtime_options& options = {});
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  std::size_t workers() const noexcept;

  // Coroutines that were spawned on it and have not ended.
  std::size_t live() const noexcept;

  // Cancels every coroutine that was spawned on it.
  void cancel_all() noexcept;

  // After a clock of one's own has moved: has each worker fire what is due by then. Returns before that has happened.
  void clock_moved() noexcept;

  // executor, spawn_target
  void post(runnable& work) noexcept override;
  timer_service* timers() noexcept override;
  void offer() noexcept override;
  spawn_target* target() noexcept override { return this; }
  executor& home() noexcept override { return *this; }
  context& surroundings() noexcept override;
  std::error_code enroll() noexcept override;
  void leave() noexcept override;
  unhandled_handler on_unhandled() const noexcept override;

 private:
  friend class worker;
  friend struct runtime_look;  // of the tests
  struct state;
  void end_threads() noexcept;

  std::unique_ptr<state> state_;
};

}  // namespace hocket::inline HOCKET_ABI
