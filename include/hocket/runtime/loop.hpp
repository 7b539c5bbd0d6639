// loop: one thread that runs coroutines, tasks and fibers alike.
//
//   loop lp;
//   auto h = spawn(lp, work, 1, 2);
//   lp.run();                          // until no coroutine is left
//   while (game.tick()) lp.run_for(16ms);   // or a frame at a time: the caller's thread stays the caller's
//
// What a turn does, in this order: take what other threads posted, poll the driver if the loop waits for I/O
// (core/detail/driver.hpp), fire the timers that are due, resume the coroutines that are ready and those that become so
// meanwhile. A turn resumes at most 64, so that neither timers nor other threads starve beside busy coroutines. With
// nothing to do, run() and run_for() park until something is posted or a timer is due. Before it parks, and now and
// then beside that, the thread's house is kept (core/detail/housekeeping.hpp): stacks that were not needed for a while
// are given back.
//
// Threads. spawn(), post(), stop() and the handles: any thread. Everything else: one thread at a time, "its" thread
// while it runs; it may be another later, but not while a fiber has begun and not ended: a fiber stays on its thread
// (resuming it on another is fatal). A loop is never run from inside of a coroutine.
//
// Time is the clock of the options. With a clock of one's own (manual_clock) and no parker a run does not sleep, unless
// coroutines wait for I/O: it returns when there is nothing left to do at that time. simulated_parker moves a
// manual_clock to the next timer instead, and so does a network in memory that has the clock (io_memory/).
//
// A guest of another event loop. Where a thread has one already (epoll, libuv, a game's), the loop has its turns
// between those of its host, and sleeps in the host's wait: its parker makes the host's wait end, as a descriptor that
// becomes readable (runtime/descriptor_parker.hpp), or as one of one's own by whatever the host has for that.
//
//   descriptor_parker bell;
//   loop lp({.parker = &bell});                      // and bell.descriptor() is watched for reading
//   for (;;) {
//     const time_point until = lp.begin_sleep();   // 1. announce the sleep, unless something is ready
//     int n = epoll_wait(ep, events, 64, poll_timeout(until, lp.now()));   // 2.
//     lp.end_sleep();                              // 3. take the announcement back, or the wake that has answered it
//     handle(events, n);                           // 4. its posts to the loop need no system call now
//     lp.poll();                                   // 5. a turn
//   }
//
// No wake-up is lost: what is posted after the turn's look at the inbox is either there in step 1, which says so, or
// sees the announcement and wakes (core/detail/inbox.hpp). Whatever has ended step 2, a spurious event or the host's
// own, the next steps do not differ, and it makes no difference whether the host watches by level or by edge.
// A host that waits without step 1 is not woken. If it leaves step 3 out, step 5 does that.
//
// If the guest waits for I/O, its parker watches the driver's descriptor (parker::watch), and the host's wait ends for
// I/O, too. Steps 1 and 5 poll the driver. A parker that watches nothing leaves the guest without I/O: its operations
// fail with not_supported.
//
// Destroying a loop kills the coroutines that are left (they unwind, core/detail/unwind.hpp) and runs them to their
// end. At check level `debug` a notice (set_log_handler) tells before of each that waits in a circle of them. Spawns are
// refused from then on. A coroutine that waits for a foreign awaitable cannot be killed: that is fatal, naming it.
#pragma once
#include <hocket/base/detail/literal_name.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/core/join_handle.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/runtime/detail/event_loop.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// What may be said of a loop.
struct loop_options {
  literal_name name = "loop";          // of its coroutines that have no name of their own
  const clock_source* clock = nullptr;  // null: the machine's monotonic clock
  hocket::parker* parker = nullptr;  // outlives the loop. Null: a futex, or the driver of its I/O (with a clock of one's own: none)
  unhandled_handler on_unhandled = nullptr;  // null: abort, naming the coroutine
};
static_assert(detail::owns_nothing<loop_options>);

class loop final : public detail::event_loop, public spawn_target {
 public:
  explicit loop(const loop_options& options = {});
  ~loop();

  // Runs until no coroutine is left, or stop(). Parks between.
  void run();

  // Runs until `done()` of the handle, or stop().
  template <class T>
  void run_until(const join_handle<T>& handle) {
    detail::expects(&handle.home() == this, "a loop was run until a coroutine of another one ends",
                    "nothing would wake this one: run the loop that it was spawned on");
    run_while([](const void* of) noexcept { return !static_cast<const join_handle<T>*>(of)->done(); }, &handle);
  }

  // Runs for `time`, or until stop(); by then at least what was ready or due when it began: run_for(0ms) runs that, and
  // little more. Returns early where it must not sleep (see above).
  template <class Rep, class Period>
  void run_for(std::chrono::duration<Rep, Period> time) {
    run_until_time(deadline_after(now(), time));
  }

  // Takes what was posted, fires what is due, and resumes at most one coroutine. Never parks. False:
  // none was ready.
  bool step();

  // A turn, for a host: resumes what is ready and what becomes so meanwhile, at most 64. Never parks. True: more is
  // ready, or due. Counts as a run: a stop() is used up.
  bool poll();

  // Before the host's wait: keeps the thread's house, and announces that from now on whatever comes must wake the
  // parker. Until when the host may wait: at most the time of the next timer, max() if there is none, and a time in the
  // past if something is ready. Said in the loop's time; a manual_clock's host knows what that means.
  [[nodiscard]] time_point begin_sleep();

  // After it: whatever comes now finds the loop awake. Nothing, if no sleep was begun. May wait for a thread that is
  // just about to wake the parker. Every poll(), step() and run, and the end of the loop, begin with this.
  void end_sleep() noexcept;

  // Any thread: the present run, or the next one if there is none, returns after its turn. Ends a host's wait, too.
  void stop() noexcept;

  // Cancels every coroutine of the loop. Any thread.
  void cancel_all() noexcept { stop_.request(stop_level::cancel); }

  // Kills them: for a host whose turns they need to end, before it destroys the loop. Any thread.
  void kill_all() noexcept { stop_.request(stop_level::kill); }

  // Coroutines that were spawned on it and have not ended. Any thread.
  std::size_t live() const noexcept;
  time_point now() const noexcept { return wheel_.now(); }

  // Writes a table of its coroutines, one line each: name (with the #id that a task_manager gave it), kind, state,
  // where it waits, where it was spawned, what it waits for. A place is file:line where it was told, else an address in
  // its module (addr2line knows the line), else "-": that of a yield, and of a wait for a foreign awaitable (gdb finds
  // both). Those that have not begun are counted, not listed. Below the table:
  //   1. circles of coroutines that wait for one another, by joins and waits for an id and by locks, and who waits for
  //      those: nobody can wake them, they can be cancelled and killed;
  //   2. who waits for a lock of a coroutine that has ended, or is none of this loop, and who waits for those: nobody
  //      here can wake them;
  //   3. if all wait, without a timer and a driver: that nothing here will wake them. Whether other threads will, or
  //      coroutines elsewhere, no loop can know.
  // Who has a mutex, a once, or a shared_mutex for writing is known at check level `debug`; who is in a monitor,
  // always. Of those who read a shared_mutex, and of the permits of a semaphore, the number is told. A wait for a
  // condition or a monitor is, once it was notified or ended, one for the mutex or the monitor. Not known: who reads,
  // who has permits, who will set, send or notify; what the children of a when_all have; whom of several the end of a
  // scope, or of a task_manager, still needs. A wait with a deadline, and a select, end otherwise.
  // Takes nothing from the allocator and leaves errno as it was. Blocks like write(2) on `fd`; what cannot be written
  // is dropped. n coroutines take O(n log n). From its thread (a coroutine of the loop, too), or by a debugger while
  // that thread stands still: call lp.dump(2).
  void dump(int fd) noexcept;

  // executor, spawn_target
  spawn_target* target() noexcept override { return this; }
  executor& home() noexcept override { return *this; }
  context& parent_context() noexcept override { return *context_; }
  std::error_code enroll(std::size_t count) noexcept override;
  void leave() noexcept override;
  unhandled_handler on_unhandled() const noexcept override { return unhandled_; }

 private:
  using condition = bool (*)(const void* of) noexcept;

  void run_while(condition goes_on, const void* of);
  void run_until_time(time_point until);
  void begin_run();
  bool take_stop() noexcept;
  std::size_t turn(std::size_t at_most) noexcept;
  [[nodiscard]] bool rest(time_point until) noexcept;
  // With a clock of its own and no parker only in a driver that would end the sleep.
  bool can_sleep(time_point until) const noexcept { return sleeps_ || drivers_.ends_sleep(until); }
  void end_all() noexcept;
  void add_live(std::size_t number) noexcept;
  void notice_circles() noexcept;

  const detail::executor_seat seat_{this, &ready_};  // not made anew for each run: decision 020
  const bool sleeps_;
  bool asleep_ = false;  // begin_sleep() was called, and end_sleep() was not
  std::uint32_t turns_ = 0;
  stop_source stop_;
  context_ptr context_;
  const unhandled_handler unhandled_;
  // How many coroutines there are: the sum. What this thread has spawned and ended, and what others have.
  primitive::atomic<std::size_t> live_here_{0};
  primitive::atomic<std::size_t> live_of_others_{0};
  primitive::atomic<bool> stopping_{false};
  primitive::atomic<bool> closing_{false};
};

// Never sleeps: moves the clock to the next timer instead. For tests and simulations on one thread; it spins where only
// another thread could go on.
class simulated_parker final : public parker {
 public:
  explicit simulated_parker(manual_clock& time) noexcept : time_(time) {}
  [[nodiscard]] bool park(time_point until) noexcept override;
  void wake() noexcept override;
  bool is_replaceable() const noexcept override { return true; }

 private:
  manual_clock& time_;
  primitive::atomic<std::uint32_t> woken_{0};
};

}}  // namespace hocket
