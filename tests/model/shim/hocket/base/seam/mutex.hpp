// <hocket/base/seam/mutex.hpp> under the model checker: what it promises (acquire and release, nobody sleeps for
// ever), by a word alone. The library's own has full fences at each unlock under the model, and they would hide
// orderings that the code between is to have by itself; it is proved apart, in base/mutex_test.cpp.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/locked.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

// 0 is free, 1 held, 2 held and somebody may sleep (Ulrich Drepper, "Futexes Are Tricky", 2011, mutex 3).
class thread_mutex {
 public:
  void lock() noexcept {
    if (try_lock()) return;
    while (word_.exchange(2, std::memory_order_acquire) != 0) futex_wait(word_, 2);
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t seen = 0;
    return word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2) futex_wake_one(word_);
  }

 private:
  atomic<std::uint32_t> word_{0};
};

}}}  // namespace hocket::primitive
