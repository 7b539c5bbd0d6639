#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <atomic>

namespace hocket::inline HOCKET_ABI::detail {

// Keeps the order of what is written before and after it, as a signal handler of this thread sees it: or whoever looks
// at the thread when a signal has stopped it. No instruction.
inline void signal_fence() noexcept {
  // ORDER: forbids that the compiler moves a store over it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace hocket::inline HOCKET_ABI::detail
