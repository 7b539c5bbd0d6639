// A lock that belongs to one thread: its owner takes it by three instructions and lets go of it by one. Now and then
// another thread borrows it, and pays for both.
//
//   owner: lock()                              another thread, one at a time: try_borrow()
//   1. held = true                             1. borrowed = yes
//   2. light fence                             2. heavy fence
//   3. borrowed is no: has it                  3. held is false: has it
//      else held = false, waits until it is       else give_back(), goes away
//      given back, go to 1
//   unlock(): held = false                     give_back(): borrowed = no; wakes the owner, if it waits
//
// One of the two sees the other's word (base/detail/atomic.hpp). If both do, both step back, and the owner tries again
// when the other has gone away. So the owner waits for a borrower, for as long as that one has the lock, and a borrower
// for nobody: it may come while the owner holds the lock in a thread that is preempted.
//
// The light half costs nothing here, because nothing is borrowed where the fences are not asymmetric: try_borrow()
// fails there.
//
// Source: Dice, Moir, Scherer, "Quickly reacquirable locks" (2003); the revocation by the heavy half is that of Dice,
// Huang, Yang. The owner of this lock is decided by its user, once.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/locked.hpp>

namespace hocket::inline HOCKET_ABI::detail {

class biased_lock {
 public:
  biased_lock() noexcept = default;
  biased_lock(const biased_lock&) = delete;
  biased_lock& operator=(const biased_lock&) = delete;

  // The owner, which does not hold it.
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_after_borrower();
  }
  // The two halves of it, where a function shall call nothing on its way. False: another thread has borrowed it, or is
  // about to find that it cannot; lock_after_borrower() must follow.
  [[nodiscard]] bool try_lock() noexcept {
    // ORDER: relaxed, pairs with the load in try_borrow(): the fences of both order it.
    held_.store(true, std::memory_order_relaxed);
    light_fence_where_asymmetric();
    // ORDER: acquire, pairs with the exchange in give_back(): what the borrower did is visible.
    return borrowed_.load(std::memory_order_acquire) == no;
  }
  [[gnu::noinline, gnu::cold]] void lock_after_borrower() noexcept {
    do {
      unlock();
      wait_for_borrower();
    } while (!try_lock());
  }
  void unlock() noexcept {
    // ORDER: release, pairs with the load in try_borrow(): what the owner did is visible.
    held_.store(false, std::memory_order_release);
  }

  // Another thread, if no other has borrowed it. False: the owner has it, or the fences are not asymmetric.
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

}  // namespace hocket::inline HOCKET_ABI::detail
