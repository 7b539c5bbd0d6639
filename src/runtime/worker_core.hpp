// The core of a worker: its queues, the search for work and the sleep. All races with other workers and with posting
// threads are here. The model checker runs it, too (tests/model), so it depends neither on timers nor on drivers or the
// runtime.
//
// # Queues
//
//   run queue    pinned coroutines: fibers that have begun here, children of a when_all. The queue belongs to the event
//                loop, and no other thread accesses it; other threads post to the inbox
//   stealable_   coroutines that any worker may run; others steal from it (core/thread/seam/stealable_queue.hpp)
//   forks_       forks that have not begun; others steal from it, too
//
// The protocol of search and sleep: idle_workers.hpp.
//
// # Offers
//
// A wake of a sleeper costs some microseconds on both sides. A few short coroutines finish sooner than that. So a
// worker offers stealable coroutines in two cases:
//
// - The worker has many stealable coroutines.
// - The worker has more than one, and the turn has already lasted as long as a wake.
//
// The worker reads the clock between two resumes, if another worker slept when the turn began, and at every 16th push:
// a coroutine that spawns many others may never return to the turn. After a late offer thieves may take the last
// coroutine, too, because the owner has often popped all others by then. Forks are offered at once. If a coroutine
// spawns a few others and continues to compute, the watch finds the spawned coroutines.
//
// # Access
//
// Counters: written by this thread alone; read by all. The inbox, stealable_, forks_: as their headers say. Everything
// else: this thread.
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
  // One of the workers that the pool has memory for. `mail`, `ready`: the inbox and the run queue of its event loop.
  worker_core(pool_core& pool, inbox& mail, run_queue& ready) noexcept;
  worker_core(const worker_core&) = delete;
  worker_core& operator=(const worker_core&) = delete;

  // Any thread.
  void nudge() noexcept { mail_.nudge(); }
  bool sleeps() const noexcept { return mail_.owner_sleeps(); }
  stealable_queue& stealable() noexcept { return stealable_; }
  // Whether other workers would steal from this worker. If its queue has one entry, thieves leave the entry, unless the
  // worker is late or stuck.
  bool has_surplus() const noexcept { return stealable_.in_reach() >= steal_threshold() || forks_.in_reach(); }
  // Callers compare the number with an earlier one.
  std::size_t turns() const noexcept { return turns_.get(); }
  // By the watch: whether the worker has been in the same turn for a period.
  // ORDER: relaxed, pairs with the load in steal_threshold(): the mutex of idle_workers orders it for a woken thief.
  void set_stuck(bool stuck) noexcept { stuck_.store(stuck, std::memory_order_relaxed); }
  // The number of entries from which on other workers steal.
  // ORDER: relaxed, pairs with the stores in set_stuck() and set_late(): see there.
  std::size_t steal_threshold() const noexcept {
    return stuck_.load(std::memory_order_relaxed) || late_.load(std::memory_order_relaxed) ? 1 : 2;
  }

  // On the worker's thread: a coroutine has made more coroutines ready than the one that this worker runs next.
  void offer_if_late() noexcept;
  void offer_at_once() noexcept { shared_.wake_one(); }

 protected:
  ~worker_core() = default;

  // A counter for statistics and for the watch; it publishes nothing else.
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

  // In each turn, busy or not: takes the work posted to the pool. False: there was none.
  bool take_injected() noexcept {
    const std::size_t taken = shared_.injected.take([this](runnable& work) noexcept { stealable_.push(work); });
    if (taken == 0) return false;
    injected_.add(taken);
    return true;
  }
  bool has_ready() const noexcept { return !bound_.empty() || !stealable_.empty() || !forks_.empty(); }
  // Called before the ready coroutines run: wakes a sleeper if they are too many for one worker.
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

  // Called when nothing is ready. Moves injected work into stealable_, or else half of another worker's stealable
  // coroutines, or else returns a fork of another worker, which the caller must begin.
  struct search {
    bool found;
    fork_entry* fork;  // null: the found work is in stealable_
  };
  [[nodiscard]] search find_work() noexcept;

  // Called when nothing was found: sleeps until a post, the surplus of another worker, or the end of sleep(), which
  // sleeps in the inbox. Calls called() after it has announced the sleep: if called() returns true, the worker must not
  // sleep. Returns whether the worker has slept.
  template <class Called, class Sleep>
  bool rest(Called called, Sleep sleep) noexcept {
    const auto [must_recheck, others_awake] = shared_.idle.begin_sleep(*this, std::exchange(searching_, false));
    const bool slept = !called() && (!must_recheck || !finds_work(others_awake));
    if (slept) {
      sleeps_.add(1);
      sleep();
    }
    const auto [notified, must_arm] = shared_.idle.end_sleep(*this);
    searching_ = notified;
    if (must_arm) shared_.arm_watch();
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
  // ORDER: relaxed, pairs with the load in steal_threshold(): the mutex of idle_workers orders it for a woken thief.
  void set_late(bool late) noexcept { late_.store(late, std::memory_order_relaxed); }

  static constexpr time_point unknown = time_point::min();

  pool_core& shared_;
  inbox& mail_;
  const run_queue& bound_;
  std::size_t next_victim_;
  bool searching_ = false;
  time_point turn_began_ = unknown;  // or the time since which another worker has slept
  std::size_t pushes_ = 0;           // in this turn, while another worker sleeps
  atomic<bool> stuck_{false};
  atomic<bool> late_{false};  // a sleeper was woken for the rest of this turn

 protected:
  stealable_queue stealable_;
  fork_deque forks_;
  tally turns_, injected_, stolen_, sleeps_;
};

}}}  // namespace hocket::detail
