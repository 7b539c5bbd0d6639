// The part of a worker that has its queues, finds work and sleeps: all of it that races with other workers and with
// those who post. The model checker runs it, too (tests/model): nothing here knows of timers, drivers or the runtime.
//
// Queues. What may run here only (a fiber that has begun here, a part of a when_all) stands in the run queue of the
// worker's event loop, which no other thread sees; others post it to its inbox. What any worker may run stands in
// stealable_, from which others steal (core/thread/seam/stealable_queue.hpp). What was forked and not begun is in
// forks_, from which others steal, too.
//
// The protocol of searching and sleeping: idle_workers.hpp.
//
// Offers. Waking a sleeper costs some microseconds on both sides. A few short coroutines finish sooner than that. So a
// worker offers stealable coroutines in two cases:
//   - It has many of them.
//   - It has more than one, and the turn has already lasted as long as a wake.
// The worker reads the clock between two resumes, if another worker slept when the turn began, and at every 16th push:
// a coroutine that spawns many others may never return to the turn. After a late offer thieves may take the last
// coroutine, too, because the owner has often popped the other one by then. Forks are offered at once. If a coroutine
// spawns a few others and computes on, the watch finds them.
//
// Access. Counters: written by this thread alone; read by all. The inbox, stealable_, forks_: as their headers say.
// Everything else: this thread.
#pragma once
#include <hocket/core/thread/seam/fork_deque.hpp>
#include <hocket/core/thread/seam/inbox.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/core/thread/seam/stealable_queue.hpp>

#include "runtime/pool_core.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

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
  // Of what another worker would come for. A lone entry is left to its worker, unless that is late, or stuck.
  bool has_surplus() const noexcept { return stealable_.in_reach() >= least_loot() || forks_.in_reach(); }
  // Whether it changes is all that matters.
  std::size_t turns() const noexcept { return turns_.get(); }
  // The watch: it has not come back from what it runs, or has again.
  // ORDER: relaxed, pairs with the load in least_loot(): the mutex of idle_workers orders it for a woken thief.
  void set_stuck(bool stuck) noexcept { stuck_.store(stuck, std::memory_order_relaxed); }
  // With so many entries another worker takes some.
  // ORDER: relaxed, pairs with the stores in set_stuck() and set_late(): see there.
  std::size_t least_loot() const noexcept {
    return stuck_.load(std::memory_order_relaxed) || late_.load(std::memory_order_relaxed) ? 1 : 2;
  }

  // On its thread: a coroutine has made more ready than this worker runs next.
  void offer_if_late() noexcept;
  void offer_at_once() noexcept { shared_.wake_one(); }

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
  // Before it runs what is ready: others are woken for what is too much for one.
  void share() noexcept {
    if (searching_) found_work();
    turn_began_ = unknown;
    pushes_ = 0;
    set_late(false);
    if (stealable_.should_offer()) [[unlikely]]
      share_beside_sleeper();
  }
  // Whether share_if_late() is to be called between two resumes of this turn.
  bool has_sleepers() const noexcept { return stealable_.has_searcher(); }
  void share_if_late() noexcept {
    if (stealable_.should_offer() && turn_is_late()) shared_.wake_one();
  }

  // When nothing is ready. Takes what was injected, then half of what another worker has; or else a fork of another
  // worker, which is not put into a queue but is to be begun now: `fork`. False: nothing was found.
  struct search {
    bool found;
    fork_entry* fork;  // null: what was found is in stealable_
  };
  [[nodiscard]] search find_work() noexcept;

  // When nothing was found: is asleep until something is posted, another worker has too much, or the time is over.
  // called(): asked after the sleep is announced; true: it must not sleep. sleep(): sleeps in the inbox. Gives whether
  // it has slept.
  template <class Called, class Sleep>
  bool rest(Called called, Sleep sleep) noexcept {
    const auto [looks_again, others_awake] = shared_.idle.begin_sleep(*this, std::exchange(searching_, false));
    const bool slept = !called() && (!looks_again || !finds_work(others_awake));
    if (slept) {
      sleeps_.add(1);
      sleep();
    }
    const auto [notified, arms] = shared_.idle.end_sleep(*this);
    searching_ = notified;
    if (arms) shared_.arm_watch();
    return slept;
  }

 private:
  void found_work() noexcept;
  bool steal_from(worker_core& victim) noexcept;
  fork_entry* steal_fork_of(worker_core& victim) noexcept;
  [[nodiscard]] bool finds_work(bool others_awake) const noexcept;
  bool has_many() const noexcept;
  void share_beside_sleeper() noexcept;
  bool turn_is_late() noexcept;
  // ORDER: relaxed, pairs with the load in least_loot(): the mutex of idle_workers orders it for a woken thief.
  void set_late(bool late) noexcept { late_.store(late, std::memory_order_relaxed); }

  static constexpr time_point unknown = time_point::min();

  pool_core& shared_;
  inbox& mail_;
  const run_queue& bound_;
  std::size_t next_victim_;
  bool searching_ = false;
  time_point turn_began_ = unknown;  // or since when somebody has slept beside it
  std::size_t pushes_ = 0;           // of this turn, beside a sleeper
  atomic<bool> stuck_{false};
  atomic<bool> late_{false};  // in this turn: a sleeper was woken for what is left of it

 protected:
  stealable_queue stealable_;
  fork_deque forks_;
  tally turns_, injected_, stolen_, sleeps_;
};

}}}  // namespace hocket::detail
