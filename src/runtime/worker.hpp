// One worker of a runtime: a thread, what it runs, and how it comes by more.
//
// Its two queues. What may run here only, because it has begun here and stays (a fiber, a part of a when_all), stands
// in ready_, which nobody else sees; others post it to inbox_. What any worker may run stands in roaming_, from which
// others steal (core/stealable_queue.hpp). What was forked and not begun is in forks_, from which others steal, too;
// what is left there when the worker comes back to its loop (a child has waited) it begins itself in its turn.
//
// The worker's loop:
//   1. turn(): the inbox, what was injected into the pool, its driver if it has one, timers, then at most
//      turn_size of each queue: what stays, what was forked (at least one: what stays may never run out), what roams
//   2. nothing was ready: find_work(): what was injected, then half of what another worker has
//   3. nothing was found: rest(): asleep until something is posted, a timer is due, another worker has too much or the
//      driver has something
// The states and their protocol: idle_workers.hpp.
//
// Who may touch what. What is counted: written by this thread alone; read by all. standing_: standstill.hpp. thread_:
// the runtime. failure_: this thread, then the runtime's constructor. Everything else: this thread.
//
// What the turn itself makes ready before it runs anything (by its driver, by its timers) wakes nobody: the turn knows
// best how much that is, and looks once it has all of it.
#pragma once
#include <hocket/core/driver.hpp>
#include <hocket/core/fork_deque.hpp>
#include <hocket/core/inbox.hpp>
#include <hocket/core/registry.hpp>
#include <hocket/core/run_queue.hpp>
#include <hocket/core/stealable_queue.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/timer_wheel.hpp>

#include "runtime/standstill.hpp"

#include <exception>
#include <memory>
#include <thread>

namespace hocket::inline HOCKET_ABI {

class worker final : public executor, private timer_waker {
 public:
  worker(runtime::state& pool, std::size_t index);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  // Throws what the making of its driver throws, or what the system says when it starts no more threads. Then join().
  void start();
  void join() { thread_.join(); }
  bool started() const noexcept { return thread_.joinable(); }

  // Any thread.
  void nudge() noexcept { inbox_.nudge(); }
  bool sleeps() const noexcept { return inbox_.owner_sleeps(); }
  stealable_queue& roaming() noexcept { return roaming_; }
  bool has_surplus() const noexcept { return roaming_.in_reach() >= 2 || forks_.in_reach(); }
  // Whether it changes is all that matters.
  std::size_t turns() const noexcept { return turns_.get(); }
  runtime_counts counts() const noexcept;
  const standstill::mark& standing() const noexcept { return standing_; }
  // The context that runs on it now; null if none does. To be compared, not to be followed: context::coroutine_of().
  const context* running() const noexcept;
  // ORDER: acquire, pairs with the stores in count(): see runtime::state::live().
  std::size_t entered() const noexcept { return entered_.load(std::memory_order_acquire); }
  std::size_t left() const noexcept { return left_.load(std::memory_order_acquire); }

  // While it stands still: it has a timer, or a driver that may bring something.
  bool has_sources() const noexcept { return wheel_.size() != 0 || driver_; }

  // On its thread.
  void halt() noexcept;
  void entered_here(std::size_t number) noexcept { count(entered_, number); }
  void left_here() noexcept { count(left_, 1); }
  bool gathers() const noexcept { return gathers_; }

  // executor
  void post(runnable& work) noexcept override;
  void post_all(const runnables& works) noexcept override;
  timer_service* timers() noexcept override { return &wheel_; }
  driver* io_driver() noexcept override { return driver_.get(); }
  registry* coroutines() noexcept override { return &coroutines_; }
  spawn_target* target() noexcept override;

 private:
  // For people and for the watch: no more than a number.
  class tally {
   public:
    // ORDER: relaxed, pairs with nothing: see above.
    std::size_t get() const noexcept { return number_.load(std::memory_order_relaxed); }
    // ORDER: relaxed, pairs with nothing: see above.
    void add(std::size_t n) noexcept { set(get() + n); }
    // ORDER: relaxed, pairs with nothing: see above.
    void set(std::size_t n) noexcept { number_.store(n, std::memory_order_relaxed); }

   private:
    atomic<std::size_t> number_{0};
  };
  static void count(atomic<std::size_t>& number, std::size_t more) noexcept {
    // ORDER: release, pairs with the loads in entered() and left(); the load is of this thread's own store.
    number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_release);
  }
  void run() noexcept;
  [[nodiscard]] bool make_driver() noexcept;
  void work() noexcept;
  void call(worker_hook hook) noexcept;
  bool turn() noexcept;
  time_point keep_own_house() noexcept;
  void gather() noexcept;
  void take_posted() noexcept;
  bool take_injected() noexcept;
  std::size_t resume_roaming() noexcept;
  bool find_work() noexcept;
  bool steal_from(worker& victim, std::size_t least) noexcept;
  bool steal_fork_of(worker& victim) noexcept;
  void begin_forks() noexcept;
  void found_work() noexcept;
  void rest() noexcept;
  time_point end_of_sleep(time_point next, bool watches) const noexcept;
  bool finds_work(bool others_awake) const noexcept;
  void look_after_others() noexcept;
  void wake() noexcept override;  // timer_waker

  runtime::state& pool_;
  const std::size_t index_;
  const clock& clock_;
  std::unique_ptr<driver> driver_;  // null: sleeps on the futex
  futex_parker futex_;
  inbox inbox_;
  poll_schedule polls_{nullptr};
  run_queue ready_;
  stealable_queue roaming_;
  fork_deque forks_;
  timer_wheel wheel_;
  runnable reclaim_{};  // posted by wake(); known by its address
  registry coroutines_;
  std::size_t next_victim_;
  bool searching_ = false;
  bool stopped_watching_ = false;  // when it woke last
  bool due_ = false;               // timers are left that are due
  bool gathers_ = false;           // in gather()
  tally turns_, resumed_, injected_, stolen_, sleeps_, timers_, latest_ns_, bound_, frames_;
  standstill::mark standing_{0};
  atomic<const thread_state*> seated_{nullptr};  // the state of its thread, once it runs
  atomic<std::size_t> entered_{0};
  atomic<std::size_t> left_{0};
  atomic<std::uint32_t> has_driver_{0};  // or failed to make one
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace hocket::inline HOCKET_ABI
