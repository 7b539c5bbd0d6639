// Memory that is needed soon.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket::inline HOCKET_ABI::detail {

// Asks for the cache line at `at`, which will be read or written soon, and for its translation. Any address will do.
// A portable build asks for nothing.
#if HOCKET_PORTABLE
inline void prefetch(const void*) noexcept {}
#else
[[HOCKET_ALWAYS_INLINE]] inline void prefetch(const void* at) noexcept {
  __builtin_prefetch(at);
  asm volatile("");  // g++ 12 takes a function that does nothing else for one without effect, and deletes its calls
}
#endif

}  // namespace hocket::inline HOCKET_ABI::detail
