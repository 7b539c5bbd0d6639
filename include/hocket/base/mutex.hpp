// A mutex for threads: four bytes, no allocation, through the atomics shim so that what it guards can be model-checked.
//
// It guards the short critical sections inside primitives (a list operation); it is never held across a suspension
// and is not for users: a coroutine that waits for it blocks its worker.
//
//   word   meaning
//   0      free
//   1      held, nobody sleeps
//   2      held, somebody may sleep
//
// lock: 0 -> 1, else set 2 and sleep while it is 2. unlock: set 0, and wake one if it was 2. A thread that slept takes
// the mutex as 2, since others may sleep still: one wake too many, never one too few. (Ulrich Drepper, "Futexes Are
// Tricky", 2011, mutex 3.)
#pragma once
#include <hocket/base/atomic.hpp>

namespace hocket::inline HOCKET_ABI {

class thread_mutex {
 public:
  void lock() noexcept {
    std::uint32_t seen = 0;
    // ORDER: acquire, pairs with the exchange in unlock(); relaxed on failure: nothing is read yet.
    if (!word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, std::memory_order_relaxed)) lock_slow();
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t seen = 0;
    // ORDER: acquire, pairs with the exchange in unlock(); relaxed on failure: nothing is read then.
    return word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    // ORDER: release, pairs with the acquire operations in lock(), try_lock() and lock_slow().
    if (word_.exchange(0, std::memory_order_release) == 2) futex_wake_one(word_);
  }

 private:
  void lock_slow() noexcept {
    // ORDER: acquire, pairs with the exchange in unlock().
    while (word_.exchange(2, std::memory_order_acquire) != 0) futex_wait(word_, 2);
  }
  atomic<std::uint32_t> word_{0};
};

template <class Mutex>
class [[nodiscard]] locked {
 public:
  explicit locked(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.lock(); }
  ~locked() { mutex_.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace hocket::inline HOCKET_ABI
