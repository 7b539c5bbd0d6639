// A worker of a runtime: an event loop on a thread of its own, which takes work from the pool and from other workers.
//
// worker_core.hpp has the queues of a worker, the search for work and the sleep. idle_workers.hpp has the states of
// workers.
//
// # The worker's loop
//
//   1. turn(): takes injected work; the event loop's turn (inbox, driver, timers); then up to turn_size entries of each
//      queue: pinned coroutines, forks (at least one, because the pinned coroutines may never run out), stealable ones
//   2. nothing was ready: find_and_begin(): injected work, then half of another worker's queue
//   3. nothing was found: rest(): sleeps until a post, a due timer, an event of the driver, or the surplus of another
//      worker
//
// If a forked child waits, its worker returns to the loop, and begins the other forks of its deque in its turns.
//
// The driver and the timers make coroutines ready before the turn resumes any. Neither of the two wakes a sleeper: the
// turn decides once, when it knows the number of ready coroutines.
//
// # Access
//
// Counters: written by this thread alone, apart from assists_; read by all. stopped_phase_: standstill.hpp. thread_:
// the runtime. Everything else: this thread.
#pragma once
#include <hocket/runtime/detail/event_loop.hpp>

#include "runtime/stack_probe.hpp"
#include "runtime/standstill.hpp"
#include "runtime/system_thread.hpp"
#include "runtime/worker_core.hpp"
#include "runtime/worker_pool.hpp"

#include <memory>
#include <thread>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class worker final : public event_loop, public worker_core {
 public:
  worker(worker_pool& pool, std::size_t index);

  // Before start(): allows a signal to copy the stack of the worker. Throws bad_alloc.
  void make_probe() { probe_ = std::make_unique<stack_probe>(); }
  // Throws std::system_error if the system starts no more threads.
  void start();
  void join() noexcept { detail::join(thread_); }
  bool started() const noexcept { return thread_.joinable(); }

  // Any thread.
  runtime_counts counts() const noexcept;
  const standstill::mark& stopped_phase() const noexcept { return stopped_phase_; }
  // The context that runs on the worker now; null: none. Do not dereference the pointer: the context may be freed at
  // any moment (context::coroutine_of()).
  const context* running() const noexcept;
  // ORDER: acquire, pairs with the stores in count(): see admission::others().
  std::size_t entered() const noexcept { return entered_.load(std::memory_order_acquire); }
  std::size_t departed() const noexcept { return departed_.load(std::memory_order_acquire); }

  // Null: there is none.
  stack_probe* probe() const noexcept { return probe_.get(); }
  // One thread at a time, after start(). False: the signal was not sent.
  [[nodiscard]] bool interrupt(int signal, std::uint32_t number) noexcept;

  // By the requester of a standstill: records whether this worker has stopped, and its turn and running context. A
  // worker that has not stopped counts as in motion for the rest of the standstill, also if it stops late.
  void record_stop(bool stopped) noexcept {
    in_motion_ = !stopped;
    recorded_ = {turns(), running()};
  }
  bool in_motion() const noexcept { return in_motion_; }
  // Whether the worker has resumed no other coroutine since record_stop().
  bool is_unchanged() const noexcept {
    return !in_motion_ || (recorded_.running && recorded_.turn == turns() && recorded_.running == running());
  }

  // During a standstill.
  using event_loop::has_sources;

  // By the watch, while this worker seems to be stuck (the worker may end its turn at any moment): polls the worker's
  // driver and fires its timers. If `ends_budget`, the next operation of the running coroutine suspends, and other
  // coroutines run.
  void help(bool ends_budget) noexcept;

  // On the worker's thread.
  void halt() noexcept;
  void count_entered(std::size_t number) noexcept { count(entered_, number); }
  void count_departed() noexcept { count(departed_, 1); }
  bool gathers() const noexcept { return gathers_; }

  spawn_target* target() noexcept override;  // executor

 private:
  static void count(atomic<std::size_t>& number, std::size_t more) noexcept {
    // ORDER: release, pairs with the loads in entered() and departed(); the load is of this thread's own store.
    number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_release);
  }
  void run() noexcept;
  void work() noexcept;
  void call(worker_hook hook) noexcept;
  bool turn() noexcept;
  bool is_timed() const noexcept;
  void gather() noexcept;
  template <class After>
  std::size_t resume_all(const After& after) noexcept;
  template <class After>
  std::size_t resume_stealable(const After& after) noexcept;
  bool find_and_begin() noexcept;
  void begin_forks() noexcept;
  void rest() noexcept;
  time_point end_of_sleep(time_point next) const noexcept;

  worker_pool& pool_;
  const std::size_t index_;
  bool gathers_ = false;  // in gather()
  tally resumed_, rings_, timers_, latest_ns_, at_home_;
  tally assists_;  // written by the watch
  standstill::mark stopped_phase_{0};
  atomic<thread_state*> thread_state_{nullptr};  // the state of the worker's thread, once the thread runs
  atomic<std::size_t> entered_{0};
  atomic<std::size_t> departed_{0};
  bool in_motion_ = false;  // this and recorded_: under the mutex of the standstill
  stack_probe::activity_mark recorded_{};
  std::unique_ptr<stack_probe> probe_;  // constant once the thread runs
  system_thread thread_;
};

}}}  // namespace hocket::detail
