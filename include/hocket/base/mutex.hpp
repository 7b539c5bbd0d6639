// A mutex for threads: four bytes, no allocation, through the atomics shim so that what it guards can be model-checked.
//
// It guards the short critical sections inside primitives (a list operation); it is never held across a suspension
// and is not for users: a coroutine that waits for it blocks its worker.
//
// Uncontended, lock() is one read-modify-write and unlock() a store. Most such mutexes write to a word of their own
// when somebody sleeps, so that unlocking must exchange it; here who sleeps is counted in a table (base/sleepers.hpp):
//
//   lock     0 -> 1; else spin for a while; else count oneself as a sleeper, heavy fence, and sleep while it is 1
//   unlock   set 0, light fence, look at the count, and wake one if there is any
//
// It is a meeting of two threads that each write one word and then read the other's: either the sleeper finds the mutex
// free, or the thread that unlocks finds the sleeper (base/atomic.hpp tells what the halves of the fence cost: nothing
// here, microseconds before a sleep). A thread that slept and has the mutex stops counting; the others are still
// counted, so the next unlock wakes one of them. Waiting first-come is not promised.
//
// A thread spins since most critical sections are shorter than a system call; it sleeps since the holder may have been
// preempted. The mutex may be destroyed by whoever holds it last: unlock() uses it as an address after its store.
#pragma once
#include <hocket/base/sleepers.hpp>

namespace hocket::inline HOCKET_ABI {

class thread_mutex {
 public:
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_slow();
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t seen = 0;
    // ORDER: acquire, pairs with the store in unlock(); relaxed on failure: nothing is read then.
    return word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    const auto& sleepers = detail::sleepers_near(this);
    // ORDER: release, pairs with try_lock() and with the exchange in sleep().
    word_.store(0, std::memory_order_release);
    light_fence();
    // ORDER: relaxed, ordered behind the store by the fences here and in lock_slow(): zero means that no thread sleeps
    // that has not seen the store.
    if (sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      futex_wake_one(word_);
  }

 private:
  static constexpr int spins = 64;  // looks, a microsecond or two

  [[gnu::noinline, gnu::cold]] void lock_slow() noexcept {
    for (int i = 0; i < spins; ++i) {
      cpu_relax();
      // ORDER: relaxed, a hint: try_lock() acquires.
      if (word_.load(std::memory_order_relaxed) == 0 && try_lock()) return;
    }
    sleep();
  }
  void sleep() noexcept {
    auto& sleepers = detail::sleepers_near(this);
    prepare_asymmetric_fences();
    // ORDER: relaxed, made visible before the exchange by the fence.
    sleepers.fetch_add(1, std::memory_order_relaxed);
    heavy_fence();
    // ORDER: acquire, pairs with the store in unlock().
    while (word_.exchange(1, std::memory_order_acquire) != 0) futex_wait(word_, 1);
    // ORDER: relaxed, orders nothing: who reads a sleeper too many wakes nobody.
    sleepers.fetch_sub(1, std::memory_order_relaxed);
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
