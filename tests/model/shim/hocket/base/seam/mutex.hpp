// <hocket/base/seam/mutex.hpp> under the model checker: the same promises (acquire and release, no thread sleeps for
// ever), by one word only. The library's mutex would have full fences at each unlock under the model, and they would
// hide missing orderings of the code between. base/mutex_test.cpp proves the library's mutex.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/locked.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

// 0 is free, 1 held, 2 held and a thread may sleep (Ulrich Drepper, "Futexes Are Tricky", 2011, mutex 3).
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
