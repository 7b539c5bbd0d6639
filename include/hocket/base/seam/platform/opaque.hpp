// An address of which the compiler no longer knows the object.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

#if HOCKET_PORTABLE
inline void* opaque(void* address) noexcept {
  void* volatile copy = address;
  return copy;
}
#else
inline void* opaque(void* address) noexcept {
  asm("" : "+r"(address));
  return address;
}
#endif

}}}  // namespace hocket::detail
