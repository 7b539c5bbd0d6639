// thread_mutex: a mutex for threads, of four bytes, without allocation. It uses the atomics shim, so code under it can
// be model-checked.
//
// It guards the short critical sections inside primitives (a list operation). It is never held across a suspension, and
// is not for users: a coroutine that waits for it blocks its worker.
//
// # Protocol
//
// Without contention lock() is one read-modify-write, and unlock() is a store. Most mutexes record sleepers in their
// word, so that unlock() needs an exchange. Here a table counts the sleepers (base/detail/sleepers.hpp).
//
//   word   meaning
//   0      free
//   1      held
//   2      free, a wake is in progress
//   3      held, a wake is in progress
//
//   lock()     1. 0 -> 1
//              2. else spins for a while: 0 -> 1 or 2 -> 3
//              3. else counts itself as a sleeper; heavy fence; exchanges the word for 1 until it was free, and sleeps
//                 on 1 in between
//   unlock()   no sleeper is counted: stores 0; light fence; reads the count again: wakes one, if there is one
//              a sleeper is counted: 3 -> 2; or else stores 2, and wakes one
//
// # No lost wake-up
//
// Two threads each write one word and then read the other's. Either the sleeper finds the mutex free, or the unlocking
// thread finds the sleeper. (The halves of the fence cost nothing here, and a system call before a sleep:
// base/seam/atomic.hpp.)
//
// A woken thread is counted until it holds the mutex. Meanwhile not every unlock must wake another one. So the word
// marks a wake in progress, until a sleeper exchanges it. A count may belong to another mutex. Then the wake has no
// effect, and the mark remains until the count is zero or a sleeper arrives.
//
// # Notes
//
// - A thread spins first, because most critical sections are shorter than a system call. Then it sleeps, because the
//   holder may have been preempted, or hold the mutex for long (a dump).
// - The mutex is not fair.
// - Its last holder may destroy it: after its store unlock() uses the mutex only as an address.
// - Two copies of hocket in one process (in a program and a plug-in) have one table each: objects must not be shared
//   between them.
#pragma once
#include <hocket/base/detail/sleepers.hpp>
#include <hocket/base/seam/locked.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

// The mutex of a source of waits. See above.
class thread_mutex {
 public:
  void lock() noexcept {
    std::uint32_t seen = 0;
    // ORDER: acquire, pairs with the stores in unlock() and unlock_beside_sleepers(); relaxed on failure: reads nothing
    // then.
    if (!word_.compare_exchange_strong(seen, held, std::memory_order_acquire, std::memory_order_relaxed)) [[unlikely]]
      lock_slow();
  }
  [[nodiscard]] bool try_lock() noexcept {
    // ORDER: relaxed, a hint: the compare-exchange acquires.
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    // ORDER: acquire, pairs with the stores in unlock() and unlock_beside_sleepers(); relaxed on failure, as in lock().
    return (seen & held) == 0 &&
           word_.compare_exchange_strong(seen, seen | held, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    const auto& sleepers = detail::sleepers_near(this);
    // ORDER: relaxed, a hint: the load after the fence decides.
    if (sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      return unlock_beside_sleepers();
    // ORDER: release, pairs with the compare-exchanges in lock() and try_lock() and the exchange in sleep().
    word_.store(0, std::memory_order_release);
    detail::light_fence();
    // ORDER: relaxed, ordered after the store by the fences here and in sleep(): if it reads zero, a later sleeper
    // reads the store.
    if (sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      detail::futex_wake_one(word_);
  }

 private:
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t waking = 2;
  static constexpr int looks = detail::under_model ? 0 : 64;  // with the pauses of x86 a microsecond or two

  [[HOCKET_NOINLINE, HOCKET_COLD]] void lock_slow() noexcept {
    for (int i = 0; i < looks; ++i) {
      detail::cpu_relax();
      if (try_lock()) return;
    }
    sleep();
  }
  void sleep() noexcept {
    auto& sleepers = detail::sleepers_near(this);
    detail::prepare_asymmetric_fences();
    // ORDER: relaxed, made visible before the exchange by the fence.
    sleepers.fetch_add(1, std::memory_order_relaxed);
    detail::heavy_fence();
    // ORDER: acquire, pairs with the stores in unlock() and unlock_beside_sleepers().
    while ((word_.exchange(held, std::memory_order_acquire) & held) != 0) detail::futex_wait(word_, held);
    // ORDER: relaxed, orders nothing: a thread that reads a sleeper too many wakes in vain.
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  [[HOCKET_NOINLINE, HOCKET_COLD]] void unlock_beside_sleepers() noexcept {
    std::uint32_t seen = held | waking;
    // ORDER: release, pairs with try_lock() and the exchange in sleep(); relaxed on failure: then a sleeper has
    // exchanged it.
    if (word_.compare_exchange_strong(seen, waking, std::memory_order_release, std::memory_order_relaxed)) return;
    // ORDER: release, pairs with the compare-exchange in try_lock() and the exchange in sleep().
    word_.store(waking, std::memory_order_release);
    detail::futex_wake_one(word_);
  }

  atomic<std::uint32_t> word_{0};
};

}}}  // namespace hocket::primitive
