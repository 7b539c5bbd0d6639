// The atomics shim: the only names by which hocket's concurrent code speaks of atomics, fences and futexes.
//
// In the library they are the standard's. The model tests compile the same sources with a directory that comes first
// in the include path and holds another file of this name, in which they are the model checker's: so the code that is
// proved is the code that runs, without a template parameter or a macro in it.
#pragma once
#include <hocket/base/seam/time_point.hpp>
#include <atomic>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

namespace primitive {

// std::atomic, or what the model checker has in its place.
template <class T>
using atomic = std::atomic<T>;

// std::atomic_thread_fence, or what the model checker has in its place.
inline void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }

}  // namespace primitive

namespace detail {

// A fence in two halves, for two threads that each write one word and then read the other's, one of them often, the
// other seldom: at least one of them sees what the other wrote, as between two seq_cst fences. The light half costs
// nothing where the system lets one thread put a fence into all others (Linux: membarrier(2)): the heavy half does that
// and takes microseconds, more where many processes do so at once. Elsewhere both are seq_cst fences.
// Dice, Huang, Yang, "Asymmetric Dekker synchronization" (2001).
//
// prepare_asymmetric_fences() comes before the heavy half, in every thread; a light half before it is a whole fence.
void prepare_asymmetric_fences() noexcept;
void heavy_fence() noexcept;

extern std::atomic<bool> fences_are_asymmetric;  // changes once, in prepare_asymmetric_fences()
inline void light_fence() noexcept {
  // ORDER: relaxed, pairs with the store in prepare_asymmetric_fences(): see there.
  if (fences_are_asymmetric.load(std::memory_order_relaxed)) [[likely]] {
    // ORDER: forbids the compiler what the heavy half forbids the processor: that the load behind it moves up.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    // ORDER: forbids that the load behind it moves up before the store in front of it.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

// For algorithms that run only if the fences are asymmetric: the light half, without the check of light_fence().
inline bool has_asymmetric_fences() noexcept {
  // ORDER: relaxed, pairs with the store in prepare_asymmetric_fences(): it changes once, before the first heavy half.
  return fences_are_asymmetric.load(std::memory_order_relaxed);
}
inline void light_fence_where_asymmetric() noexcept {
  // ORDER: forbids that the compiler moves the following load up, as in light_fence().
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Tells the processor that the caller spins.
void cpu_relax() noexcept;

// Blocks while `word` holds `expected`, until a wake; may return spuriously. Sleeps in the kernel at once: a caller
// that wants to spin first does so itself.
void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

// The same until `deadline` at most: false if it returns because that has come. One in the past returns at once;
// time_point::max() never comes.
[[nodiscard]] bool futex_wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
                                    time_point deadline) noexcept;

// Wakes one thread, or all, that sleep on `word`. `word` is used as an address only: it may be gone already.
void futex_wake_one(const atomic<std::uint32_t>& word) noexcept;
void futex_wake_all(const atomic<std::uint32_t>& word) noexcept;

}  // namespace detail

}}  // namespace hocket
