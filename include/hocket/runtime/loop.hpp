// loop: one thread that runs coroutines, tasks and fibers alike.
//
//   loop lp;
//   auto h = spawn(lp, work, 1, 2);
//   lp.run();                          // until no coroutine is left
//   while (game.tick()) lp.run_for(16ms);   // or a frame at a time: the caller's thread stays the caller's
//
// A turn has these steps, in this order:
//   1. Takes the work that other threads posted.
//   2. Polls the driver, if the loop waits for I/O (core/thread/seam/driver.hpp).
//   3. Fires due timers.
//   4. Resumes ready coroutines, also the coroutines that become ready meanwhile. The limit is 64 in a turn, so that
//      busy coroutines starve neither timers nor other threads.
//
// If no coroutine is ready, run() and run_for() park until a post, a due timer or ready I/O. Before the loop parks, and
// in one turn of 1,024, it returns memory that the thread has not needed for a while
// (core/thread/seam/housekeeping.hpp).
//
// Thread safety. spawn(), post(), stop() and the handles: any thread. Other functions: one thread at a time, which is
// the loop's thread during the call. A later call may use another thread, unless a fiber has begun and not ended: a
// fiber stays on its thread, and resuming it on another thread is fatal.
//
// Do not run a loop inside a coroutine: that is fatal.
//
// Time. A loop uses the clock of its options. With a clock of the program's own (manual_clock) and without a parker, a
// run does not sleep unless coroutines wait for I/O: it returns when nothing is left to do at that time.
// simulated_parker moves a manual_clock to the next timer instead. So does a network in memory that has the clock
// (io_memory/).
//
// Guest of another event loop. If a thread already has an event loop (epoll, libuv, a game's), the loop runs its turns
// between the host's turns, and sleeps in the host's wait. Its parker ends the host's wait: descriptor_parker by a
// readable descriptor (runtime/descriptor_parker.hpp), a parker of the program's own by the host's means.
//
//   descriptor_parker parker;
//   loop lp({.parker = &parker});                    // and parker.descriptor() is watched for reading
//   for (;;) {
//     const time_point until = lp.begin_sleep();   // 1. announces the sleep, unless a coroutine is ready
//     int n = epoll_wait(ep, events, 64, poll_timeout(until, lp.now()));   // 2.
//     lp.end_sleep();                              // 3. takes the announcement back, or consumes the wake
//     handle(events, n);                           // 4. its posts to the loop need no system call now
//     lp.poll();                                   // 5. a turn
//   }
//
//   - No wake-up is lost. A post after the turn's look at the inbox is found by step 1, or its thread sees the
//     announcement and wakes the parker (core/thread/seam/inbox.hpp).
//   - The steps are the same for all causes that end step 2, also for a spurious event. The host may watch by level or
//     by edge.
//   - A host that waits without step 1 is not woken. If step 3 is left out, step 5 does its work.
//   - If the guest waits for I/O, its parker watches the driver's descriptor (parker::watch), and I/O ends the host's
//     wait, too. Steps 1 and 5 poll the driver. If the parker watches nothing, I/O of the guest fails with
//     not_supported.
//
// Destruction. The destructor refuses spawns from then on, kills the remaining coroutines, and runs them to their end
// (they unwind, core/wait/seam/unwind.hpp). At check level `debug`, a log message (set_log_handler) first names each
// coroutine of a circle of coroutines that wait for one another. A coroutine that waits for a foreign awaitable cannot
// be killed: that is fatal, and the message names the coroutine.
#pragma once
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/core/join_handle.hpp>
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/runtime/detail/event_loop.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Options for loop.
struct loop_options {
  literal_name name = "loop";                // of coroutines without a name of their own
  const clock_source* clock = nullptr;       // null: the machine's monotonic clock
  hocket::parker* parker = nullptr;          // outlives the loop. Null: a futex, or the driver of the loop's I/O; with
                                             // another clock: none
  unhandled_handler on_unhandled = nullptr;  // null: abort, with the coroutine's name
};
static_assert(detail::owns_nothing<loop_options>);

// An executor of one thread, with its run queue, timers and driver.
class loop final : public detail::event_loop, public spawn_target {
 public:
  explicit loop(const loop_options& options = {});
  ~loop();

  // Runs until no coroutine is left, or stop(). Parks while no coroutine is ready. When no coroutine but daemons
  // (core/spawn/seam/daemon_group.hpp) is left, cancels the daemons. The other functions that run the loop leave them
  // alone.
  void run();

  // Runs until handle.done(), or stop().
  template <class T>
  void run_until(const join_handle<T>& handle) {
    detail::expects(&handle.home() == this, "a loop was run until a coroutine of another one ends",
                    "nothing would wake this one: run the loop that it was spawned on");
    run_while([](const void* joined) noexcept { return !static_cast<const join_handle<T>*>(joined)->done(); }, &handle);
  }

  // Runs for `timeout`, or until stop(). In any case it runs the work that was ready or due at the call: run_for(0ms)
  // runs that work, and little more. Returns early where the loop must not sleep (see Time).
  template <class Rep, class Period>
  void run_for(std::chrono::duration<Rep, Period> timeout) {
    run_until_time(deadline_after(now(), timeout));
  }

  // A turn that resumes at most one coroutine. Never parks. False: no coroutine was ready, and nothing more is due.
  bool step();

  // A turn, for a host: resumes at most 64 coroutines. Never parks. True: more coroutines are ready, or timers are due.
  // Counts as a run: it consumes a stop().
  bool poll();

  // Called before the host's wait. Returns unneeded memory of the thread, and announces the sleep: from now on a post
  // wakes the parker. Returns the end of the host's wait, by the loop's clock: the earlier of the next timer and the
  // next return of memory; max() if there is neither; a time in the past if a coroutine is ready.
  [[nodiscard]] time_point begin_sleep();

  // Called after the host's wait. Ends the announcement: from now on a post finds the loop awake. Does nothing if no
  // sleep was announced. May wait for a thread that is about to wake the parker. Each poll(), step() and run, and the
  // destructor, call it first.
  void end_sleep() noexcept;

  // Ends the present run, or the next run if there is none, after its turn. Ends a host's wait, too. Any thread.
  void stop() noexcept;

  // Cancels every coroutine of the loop. Any thread.
  void cancel_all() noexcept { stop_.request(stop_level::cancel); }

  // Kills every coroutine of the loop. Any thread. A host calls it before it destroys the loop, if coroutines need the
  // host's turns to end.
  void kill_all() noexcept { stop_.request(stop_level::kill); }

  // The number of coroutines that were spawned on the loop and have not ended. Any thread.
  std::size_t live() const noexcept;

  // The time of the loop's clock.
  time_point now() const noexcept { return wheel_.now(); }

  // Writes a table of the loop's coroutines, a line each: name (with the #id that a task_manager gave it), kind, state,
  // place of the wait, place of the spawn, object of the wait. A place is file:line if that was recorded, else an
  // address in its module (for addr2line), else "-": of a yield, and of a wait for a foreign awaitable (gdb finds
  // both). Coroutines that have not begun are counted, not listed. Below the table:
  //   1. Circles of coroutines that wait for one another, by joins, by waits for an id and by locks, and the coroutines
  //      that wait for a circle. No coroutine can wake them. They can be cancelled and killed.
  //   2. Coroutines that wait for a lock of a coroutine that has ended or does not belong to the loop, and coroutines
  //      that wait for these. No coroutine of the loop can wake them.
  //   3. If all coroutines wait, without a timer and a driver: a line that nothing in this loop will wake them. Other
  //      threads and coroutines of other loops may wake them: the loop cannot know.
  // Known holders: of a mutex, a once, and a shared_mutex locked for writing, at check level `debug`; of a monitor,
  // always. Of the readers of a shared_mutex and the permits of a semaphore, the table has the number. A wait for a
  // condition or a monitor that was notified or ended counts as a wait for the mutex or the monitor. Not known: which
  // coroutines read or hold permits, and which will set, send or notify; the locks of the children of a when_all; the
  // coroutines for which the end of a scope or task_manager waits. A wait with a deadline and a select are in no
  // circle, because they can end in another way.
  // Does not allocate, and preserves errno. Blocks like write(2) on `fd`, and drops output that cannot be written.
  // O(n log n) for n coroutines. Called on the loop's thread (also in a coroutine of the loop), or by a debugger while
  // that thread is stopped: call lp.dump(2).
  void dump(int fd) noexcept;

  // executor, spawn_target
  spawn_target* target() noexcept override { return this; }
  executor& home() noexcept override { return *this; }
  context& parent_context() noexcept override { return *context_; }
  std::error_code enroll(std::size_t count) noexcept override;
  void leave() noexcept override;
  spawn_target& daemons() override;
  std::error_code enroll_daemons(std::size_t count, bool are_children) noexcept override;
  void leave_daemon() noexcept override;
  unhandled_handler on_unhandled() const noexcept override { return unhandled_; }

 private:
  using condition = bool (*)(const void* argument) noexcept;

  bool run_while(condition is_unfinished, const void* argument);
  bool cancels_daemons() const noexcept;
  bool is_closing() const noexcept;
  std::size_t others() const noexcept;
  void run_until_time(time_point until);
  void begin_run();
  bool take_stop() noexcept;
  void end_late_waits() noexcept;
  std::size_t turn(std::size_t max_resumes) noexcept;
  [[nodiscard]] bool rest(time_point until) noexcept;
  // A loop with another clock and no parker sleeps only in a driver that ends the sleep.
  bool can_sleep(time_point until) const noexcept { return sleeps_ || drivers_.ends_sleep(until); }
  void end_all() noexcept;
  void add_live(std::size_t count) noexcept;
  void notice_circles() noexcept;

  const detail::executor_binding seat_{this, &ready_};  // constructed once, not for each run: decision 020
  const bool sleeps_;
  bool asleep_ = false;  // a sleep is announced
  const bool is_timed_;  // by the machine's clock: budgets end by time
  std::uint32_t turns_ = 0;
  stop_source stop_;
  context_ptr context_;
  const unhandled_handler unhandled_;
  // others() is the sum: spawns less ends on the loop's thread, and on other threads. Without daemons.
  primitive::atomic<std::size_t> live_here_{0};
  primitive::atomic<std::size_t> live_elsewhere_{0};
  detail::daemon_count daemons_;
  detail::daemon_slot daemon_group_;
  primitive::atomic<bool> stopping_{false};
  primitive::atomic<bool> closing_{false};
};

// A parker that does not sleep: it moves the clock to the next timer. For tests and simulations on one thread. If only
// another thread can make a coroutine ready, the loop spins.
class simulated_parker final : public parker {
 public:
  explicit simulated_parker(manual_clock& clock) noexcept : clock_(clock) {}
  [[nodiscard]] bool park(time_point until) noexcept override;
  void wake() noexcept override;
  bool is_replaceable() const noexcept override { return true; }

 private:
  manual_clock& clock_;
  primitive::atomic<std::uint32_t> woken_{0};
};

}}  // namespace hocket
