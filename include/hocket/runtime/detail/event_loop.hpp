// An event loop: what a `loop` and a worker of a runtime have in common. It is the executor of one thread: its inbox
// and the parker in which it sleeps, its driver, its run queue, its timers, the registry of its coroutines, and its
// house.
//
// A turn of the thread, in this order:
//   1. begin_turn(): takes what other threads posted; polls the driver; fires the timers that are due. I/O comes before
//      timers, so data that has come in time beats its deadline.
//   2. The owner resumes what is ready (runtime/turn.hpp).
//   3. If nothing is ready: maintain(), then sleep() until something is posted, a timer or the house is due, or the
//      driver has an event.
//
// The clock is read once in a turn: by the timer wheel, if timers are attached. The house uses that reading.
//
// Access. post_from_outside() and post_all_from_outside(): any thread. Everything else: the thread that runs the loop.
#pragma once
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/registry.hpp>
#include <hocket/core/thread/seam/driver_slot.hpp>
#include <hocket/core/thread/seam/housekeeping.hpp>
#include <hocket/core/thread/seam/inbox.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/time/seam/timer_wheel.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class event_loop : public executor, private timer_waker {
 public:
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  // executor
  void post_from_outside(runnable& work) noexcept override;
  void post_all_from_outside(const runnables& works) noexcept override;
  timer_service* timers() noexcept override { return &wheel_; }
  driver_access drivers() noexcept override { return {&drivers_, &inbox_}; }
  registry* coroutines() noexcept override { return &coroutines_; }

 protected:
  // `bed`: how the thread sleeps; null: on a futex, and in its driver from when it has one. `name` is for people.
  // `stays`: it is one of several workers, and runs on one thread for ever.
  event_loop(const clock_source& time, parker* bed, const char* name, bool stays) noexcept;
  ~event_loop() = default;

  // `number` is the number of the turn: now and then it looks after the house.
  void begin_turn(std::size_t number) noexcept;
  // Something is ready, or due.
  bool busy() const noexcept { return due_ || !ready_.empty() || drivers_.has_more(); }
  // It has a timer, or a wait at its driver.
  bool has_sources() const noexcept { return !wheel_.empty() || drivers_.has_waits(); }

  void take_posted() noexcept;
  // Returns when the house wants to be looked after again.
  time_point maintain() noexcept { return reclaimer_.reclaim_if_due(wheel_.last_reading()); }
  // Until something comes, or `until`; may return for no reason.
  void sleep(time_point until) noexcept;
  // After a sleep, or in its place. `woken`: by another thread.
  void slept(bool woken) noexcept;

  const clock_source& clock_;
  futex_parker futex_;
  inbox inbox_;
  driver_slot drivers_;
  run_queue ready_;
  timer_wheel wheel_;
  registry coroutines_;
  memory_reclaimer reclaimer_;
  bool due_ = false;  // timers are left that are due

 private:
  void wake() noexcept override;  // timer_waker

  runnable reclaim_{};  // posted by wake(); known by its address
};

}}}  // namespace hocket::detail
