// What AddressSanitizer is told, and asked; in other builds nothing happens.
//
//   poison_memory, unpoison_memory   memory that is ours but must not be touched now
//   expect_to_last                   an object that is reached only through memory of the library's own, which the leak
//                                    check does not look at
//   stack_address                   where on the running stack an object belongs: locals lie in memory of the
//                                    sanitizer's, to find uses after the return. Its own address if it is none of those
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || HOCKET_HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline void poison_memory(const void* low, std::size_t size) noexcept { __asan_poison_memory_region(low, size); }
inline void unpoison_memory(const void* low, std::size_t size) noexcept { __asan_unpoison_memory_region(low, size); }
inline void expect_to_last(const void* object) noexcept { __lsan_ignore_object(object); }
inline const void* stack_address(const void* object) noexcept {
  void* const locals = __asan_get_current_fake_stack();
  const void* const place =
      locals ? __asan_addr_is_in_fake_stack(locals, const_cast<void*>(object), nullptr, nullptr) : nullptr;
  return place ? place : object;
}

}}}  // namespace hocket::detail
#else
namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline void poison_memory(const void*, std::size_t) noexcept {}
inline void unpoison_memory(const void*, std::size_t) noexcept {}
inline void expect_to_last(const void*) noexcept {}
inline const void* stack_address(const void* object) noexcept { return object; }

}}}  // namespace hocket::detail
#endif
