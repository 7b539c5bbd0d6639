// A mutex for threads: four bytes, no allocation, through the atomics shim so that what it guards can be model-checked.
//
// It guards the short critical sections inside primitives (a list operation); it is never held across a suspension
// and is not for users: a coroutine that waits for it blocks its worker.
//
// Uncontended, lock() is one read-modify-write and unlock() a store. Most such mutexes write to a word of their own
// when somebody sleeps, so that unlocking must exchange it; here a table counts the sleepers
// (base/detail/sleepers.hpp).
//
//   word   meaning                      lock      0 -> 1; else look for a while, taking 0 -> 1 or 2 -> 3; else count
//   0      free                                   oneself as a sleeper, heavy fence, and exchange 1 for the word until
//   1      held                                   that was free, sleeping on 1 in between
//   2      free, a wake is under way    unlock    nobody counted: 0, light fence, look again: wake one if somebody is
//   3      held, a wake is under way              counted: 3 -> 2, or else 2 and wake one
//
// It is a meeting of two threads that each write one word and then read the other's: either the sleeper finds the mutex
// free, or the thread that unlocks finds the sleeper (base/seam/atomic.hpp tells what the halves of the fence cost:
// nothing here, a system call before a sleep). A woken thread is counted until it has the mutex. So that not every
// unlock meanwhile wakes another, the word says that a wake is under way, until a sleeper looks at it. A count may be
// that of another mutex: then a wake finds nobody, and the mark stays until the count is zero or a sleeper comes.
//
// A thread looks first since most critical sections are shorter than a system call; it sleeps since the holder may have
// been preempted, or hold it for long (a dump). First come, first served is not promised. The mutex may be destroyed
// by whoever holds it last: after its store unlock() uses it as an address. Two copies of hocket in one process (in a
// program and a plug-in) each have a table: objects must not be shared between them.
#pragma once
#include <hocket/base/detail/sleepers.hpp>
#include <hocket/base/seam/locked.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

// The mutex of a source of waits. See above.
class thread_mutex {
 public:
  void lock() noexcept {
    std::uint32_t seen = 0;
    // ORDER: acquire, pairs with the stores in unlock() and unlock_beside_sleepers(); relaxed on failure: nothing is
    // read then.
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
    // ORDER: relaxed, a hint: the look behind the fence is the one that counts.
    if (sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      return unlock_beside_sleepers();
    // ORDER: release, pairs with the compare-exchanges in lock() and try_lock() and the exchange in sleep().
    word_.store(0, std::memory_order_release);
    detail::light_fence();
    // ORDER: relaxed, ordered behind the store by the fences here and in sleep(): zero means that whoever sleeps has
    // seen the store.
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
    // ORDER: relaxed, orders nothing: who reads a sleeper too many wakes nobody.
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  [[HOCKET_NOINLINE, HOCKET_COLD]] void unlock_beside_sleepers() noexcept {
    std::uint32_t seen = held | waking;
    // ORDER: release, pairs with try_lock() and the exchange in sleep(); relaxed on failure: then a sleeper has looked.
    if (word_.compare_exchange_strong(seen, waking, std::memory_order_release, std::memory_order_relaxed)) return;
    // ORDER: release, pairs with the compare-exchange in try_lock() and the exchange in sleep().
    word_.store(waking, std::memory_order_release);
    detail::futex_wake_one(word_);
  }

  atomic<std::uint32_t> word_{0};
};

}}}  // namespace hocket::primitive
