// The atomics shim: hocket's concurrent code uses atomics, fences and futexes only by these names.
//
// In the library they are the standard's. The model tests compile the same sources with another file of this name, from
// a directory that is first in the include path. There they are the model checker's. So the checked code is the code
// that runs, without a template parameter or a macro in it.
#pragma once
#include <hocket/base/seam/time_point.hpp>
#include <atomic>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

namespace primitive {

// std::atomic, or the model checker's.
template <class T>
using atomic = std::atomic<T>;

// std::atomic_thread_fence, or the model checker's.
inline void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }

}  // namespace primitive

namespace detail {

// An asymmetric fence, in two halves. Two threads each write one word and then read the other's; one of them does so
// often (light half), the other rarely (heavy half). At least one of them reads what the other wrote, as between two
// seq_cst fences.
//
// Cost. If a thread can put a fence into all other threads (Linux: membarrier(2)), the light half costs nothing. The
// heavy half does that, and takes microseconds; more if many processes do so at once. Elsewhere both are seq_cst
// fences. Source: Dice, Huang, Yang, "Asymmetric Dekker synchronization" (2001).
//
// Call prepare_asymmetric_fences() before the heavy half, in every thread; a light half before it is a whole fence.
void prepare_asymmetric_fences() noexcept;
void heavy_fence() noexcept;

extern std::atomic<bool> fences_are_asymmetric;  // changes once, in prepare_asymmetric_fences()
inline void light_fence() noexcept {
  // ORDER: relaxed, pairs with the store in prepare_asymmetric_fences(): see there.
  if (fences_are_asymmetric.load(std::memory_order_relaxed)) [[likely]] {
    // ORDER: forbids the compiler to move the following load up; the heavy half forbids it to the processor.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    // ORDER: forbids that the following load moves up before the preceding store.
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

// The same, up to `deadline`. False: the deadline has passed. With a deadline in the past it returns at once;
// time_point::max() never passes.
[[nodiscard]] bool futex_wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
                                    time_point deadline) noexcept;

// Wakes one thread, or all, that sleep on `word`. `word` is used as an address only: it may have been destroyed.
void futex_wake_one(const atomic<std::uint32_t>& word) noexcept;
void futex_wake_all(const atomic<std::uint32_t>& word) noexcept;

}  // namespace detail

}}  // namespace hocket
