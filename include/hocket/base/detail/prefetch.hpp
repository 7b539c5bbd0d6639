// Memory that is needed soon.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket::inline HOCKET_ABI::detail {

// Asks for the cache line at `at`, which will be read or written soon, and for its translation. Any address will do.
[[gnu::always_inline]] inline void prefetch(const void* at) noexcept {
  __builtin_prefetch(at);
  asm volatile("");  // g++ 12 takes a function that does nothing else for one without effect, and deletes its calls
}

}  // namespace hocket::inline HOCKET_ABI::detail
