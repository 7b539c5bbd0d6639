// A lock that is biased to one thread, its owner. The owner locks with three instructions and unlocks with one. Another
// thread can borrow the lock, rarely, and pays for both.
//
//   owner: lock()                              borrower, one at a time: try_borrow()
//   1. held = true                             1. borrowed = yes
//   2. light fence                             2. heavy fence
//   3. borrowed == no: the owner has the lock  3. held == false: the borrower has the lock
//      else: held = false, wait until             else: give_back(), fail
//      borrowed == no, go to 1
//   unlock(): held = false                     give_back(): borrowed = no; wake the owner if it waits
//
// At least one thread sees the other's word (base/seam/atomic.hpp). If both do, both step back, and the owner retries
// after the borrower has failed. So the owner waits for a borrower. A borrower never waits: the owner may be preempted
// while it holds the lock.
//
// The light half costs nothing. If the fences are not asymmetric, try_borrow() fails, and nothing has to be ordered.
//
// Sources: D. Dice, M. Moir, W. Scherer, "Quickly reacquirable locks" (2003); the heavy fence: D. Dice, H. Huang,
// M. Yang, "Asymmetric Dekker synchronization" (2001). Here the owner never changes.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/locked.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class biased_lock {
 public:
  biased_lock() noexcept = default;
  biased_lock(const biased_lock&) = delete;
  biased_lock& operator=(const biased_lock&) = delete;

  // Owner, while it does not hold the lock.
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_after_borrower();
  }
  // Owner. The two halves of lock(), for functions that call nothing on their fast path. If try_lock() fails,
  // lock_after_borrower() must follow.
  [[nodiscard]] bool try_lock() noexcept {
    // ORDER: relaxed, pairs with the load in try_borrow(): the fences of both order it.
    held_.store(true, std::memory_order_relaxed);
    light_fence_where_asymmetric();
    // ORDER: acquire, pairs with the exchange in give_back(): the borrower's changes are visible.
    return borrowed_.load(std::memory_order_acquire) == no;
  }
  [[HOCKET_NOINLINE, HOCKET_COLD]] void lock_after_borrower() noexcept {
    do {
      unlock();
      wait_for_borrower();
    } while (!try_lock());
  }
  void unlock() noexcept {
    // ORDER: release, pairs with the load in try_borrow(): the owner's changes are visible.
    held_.store(false, std::memory_order_release);
  }

  // Borrower. False: the owner holds the lock, or the fences are not asymmetric.
  [[nodiscard]] bool try_borrow() noexcept {
    if (!has_asymmetric_fences()) return false;
    // ORDER: relaxed, pairs with the load in try_lock(): the fences of both order it.
    borrowed_.store(yes, std::memory_order_relaxed);
    heavy_fence();
    // ORDER: acquire, pairs with the store in unlock().
    if (!held_.load(std::memory_order_acquire)) return true;
    give_back();
    return false;
  }
  void give_back() noexcept {
    // ORDER: release, pairs with the load in try_lock().
    if (borrowed_.exchange(no, std::memory_order_release) == awaited) futex_wake_one(borrowed_);
  }

 private:
  static constexpr std::uint32_t no = 0, yes = 1;
  static constexpr std::uint32_t awaited = 2;  // yes, and the owner sleeps until it is given back

  void wait_for_borrower() noexcept {
    for (;;) {
      std::uint32_t seen = yes;
      // ORDER: relaxed, pairs with nothing: the load in try_lock() follows.
      if (!borrowed_.compare_exchange_strong(seen, awaited, std::memory_order_relaxed, std::memory_order_relaxed) &&
          seen == no)
        return;
      futex_wait(borrowed_, awaited);
    }
  }

  atomic<bool> held_{false};
  atomic<std::uint32_t> borrowed_{no};
};

}}}  // namespace hocket::detail
