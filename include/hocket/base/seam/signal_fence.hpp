#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <atomic>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Keeps the order of stores before and after it, for a signal handler of this thread, and for a collector that has
// stopped the thread by a signal. No instruction.
inline void signal_fence() noexcept {
  // ORDER: forbids that the compiler moves a store over it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}}}  // namespace hocket::detail
