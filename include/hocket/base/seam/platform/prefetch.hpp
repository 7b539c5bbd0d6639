// Memory that is needed soon.
#pragma once
#include <hocket/base/seam/platform/attributes.hpp>
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

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

// The same for `count` lines from there on. In a row: g++ -O2 keeps a loop of more than a few.
template <std::size_t count>
[[HOCKET_ALWAYS_INLINE]] inline void prefetch_lines(const void* from) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(from);  // which may be null, or near the end of an object
  prefetch(from);
  if constexpr (count > 1) prefetch_lines<count - 1>(reinterpret_cast<const void*>(at + 64));
}

}}}  // namespace hocket::detail
