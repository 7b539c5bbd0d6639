// The part of a worker that has its queues, finds work and sleeps: all of it that races with other workers and with
// those who post. The model checker runs it, too (tests/model): nothing here knows of timers, drivers or the runtime.
//
// Queues. What may run here only (a fiber that has begun here, a part of a when_all) stands in the run queue of the
// worker's event loop, which no other thread sees; others post it to its inbox. What any worker may run stands in
// stealable_, from which others steal (core/detail/stealable_queue.hpp). What was forked and not begun is in forks_,
// from which others steal, too.
//
// The protocol of searching and sleeping: idle_workers.hpp.
//
// Access. Counters: written by this thread alone; read by all. The inbox, stealable_, forks_: as their headers say.
// Everything else: this thread.
#pragma once
#include <hocket/core/detail/fork_deque.hpp>
#include <hocket/core/detail/inbox.hpp>
#include <hocket/core/detail/run_queue.hpp>
#include <hocket/core/detail/stealable_queue.hpp>

#include "runtime/pool_core.hpp"

#include <utility>

namespace hocket::inline HOCKET_ABI::detail {

class worker_core {
 public:
  // One of those that the pool was made for, with the inbox and the run queue of its event loop.
  worker_core(pool_core& pool, inbox& mail, run_queue& ready) noexcept;
  worker_core(const worker_core&) = delete;
  worker_core& operator=(const worker_core&) = delete;

  // Any thread.
  void nudge() noexcept { mail_.nudge(); }
  bool sleeps() const noexcept { return mail_.owner_sleeps(); }
  stealable_queue& stealable() noexcept { return stealable_; }
  bool has_surplus() const noexcept { return stealable_.in_reach() >= 2 || forks_.in_reach(); }
  // Whether it changes is all that matters.
  std::size_t turns() const noexcept { return turns_.get(); }

 protected:
  ~worker_core() = default;

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

  // In each turn, busy or not: takes what was posted to the pool. Whether there was any.
  bool take_injected() noexcept {
    const std::size_t taken = shared_.injected.take([this](runnable& work) noexcept { stealable_.push(work); });
    if (taken == 0) return false;
    injected_.add(taken);
    return true;
  }
  bool has_ready() const noexcept { return !bound_.empty() || !stealable_.empty() || !forks_.empty(); }
  // Before it runs what is ready: others are woken for what is too much for one. What runs next is in nobody's way.
  void share() noexcept {
    if (searching_) found_work();
    const bool more = bound_.size() + stealable_.size() > 1 && stealable_.wanted();
    if (std::exchange(stopped_watching_, false) || more) shared_.wake_one();
  }

  // When nothing is ready. Takes what was injected, then half of what another worker has; or else a fork of another
  // worker, which is not put into a queue but is to be begun now: `fork`. False: nothing was found.
  struct search {
    bool found;
    fork_entry* fork;  // null: what was found is in stealable_
  };
  [[nodiscard]] search find_work() noexcept;

  // When nothing was found: is asleep until something is posted, another worker has too much, or the time is over.
  // called(): asked after the sleep is announced; true: it must not sleep. sleep(watches): sleeps in the inbox. One
  // that watches ends it soon: it looks then whether a worker is stuck. Gives whether it has slept.
  template <class Called, class Sleep>
  bool rest(Called called, Sleep sleep) noexcept {
    const auto [looks_again, others_awake, watches] = shared_.idle.begin_sleep(*this, std::exchange(searching_, false));
    const bool slept = !called() && (!looks_again || !finds_work(others_awake));
    if (slept) {
      sleeps_.add(1);
      sleep(watches);
      if (watches) look_after_others();
    }
    stopped_watching_ = watches;
    searching_ = shared_.idle.end_sleep(*this, watches);
    return slept;
  }

 private:
  void found_work() noexcept;
  bool steal_from(worker_core& victim, std::size_t least) noexcept;
  fork_entry* steal_fork_of(worker_core& victim) noexcept;
  [[nodiscard]] bool finds_work(bool others_awake) const noexcept;
  void look_after_others() noexcept;
  // Does for another worker, which seems to be stuck, what its event loop does not come to. That one may be doing
  // anything.
  virtual void assist(worker_core&) noexcept {}

  pool_core& shared_;
  inbox& mail_;
  const run_queue& bound_;
  std::size_t next_victim_;
  bool searching_ = false;
  bool stopped_watching_ = false;  // when it woke last

 protected:
  stealable_queue stealable_;
  fork_deque forks_;
  tally turns_, injected_, stolen_, sleeps_;
};

}  // namespace hocket::inline HOCKET_ABI::detail
