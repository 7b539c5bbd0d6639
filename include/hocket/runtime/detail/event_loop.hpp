// An event loop: the common part of a `loop` and of a worker of a runtime. It is the executor of one thread. It has an
// inbox and the parker in which the thread sleeps, a driver, a run queue, timers, the registry of its coroutines, and a
// memory_reclaimer.
//
// A turn of the thread, in this order:
//   1. begin_turn(): takes what other threads posted; polls the driver; fires the timers that are due. I/O comes before
//      timers, so data that arrived in time beats its deadline.
//   2. The owner resumes what is ready (runtime/turn.hpp).
//   3. If nothing is ready: maintain(), then sleep() until work is posted, a timer or the maintenance is due, or the
//      driver has an event.
//
// The clock is read once in a turn: by the timer wheel, if timers are attached. The maintenance uses that reading.
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
  // `parker`: where the thread sleeps; null: on a futex, and in its driver once it has one. `name` appears in dumps.
  // `stays`: the loop is one of several workers, and runs on one thread for ever.
  event_loop(const clock_source& time, parker* parker, const char* name, bool stays) noexcept;
  ~event_loop() = default;

  // `number` is the number of the turn: some turns reclaim memory.
  void begin_turn(std::size_t number) noexcept;
  // Whether a coroutine is ready or a timer is due.
  bool busy() const noexcept { return due_ || !ready_.empty() || drivers_.has_more(); }
  // Whether it has a timer, or a wait at its driver.
  bool has_sources() const noexcept { return !wheel_.empty() || drivers_.has_waits(); }

  void take_posted() noexcept;
  // Returns the time of the next maintenance.
  time_point maintain() noexcept { return reclaimer_.reclaim_if_due(wheel_.last_reading()); }
  // Sleeps until a post, an event or `until`; may return early.
  void sleep(time_point until) noexcept;
  // Called after a sleep, or instead of one. `woken`: another thread ended it.
  void slept(bool woken) noexcept;

  const clock_source& clock_;
  futex_parker futex_;
  inbox inbox_;
  driver_slot drivers_;
  run_queue ready_;
  timer_wheel wheel_;
  registry coroutines_;
  memory_reclaimer reclaimer_;
  bool due_ = false;  // due timers remain for the next turn

 private:
  void wake() noexcept override;  // timer_waker

  runnable reclaim_{};  // posted by wake(); known by its address
};

}}}  // namespace hocket::detail
