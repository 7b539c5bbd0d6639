// Memory that is ours but must not be touched now: AddressSanitizer is told, in other builds nothing happens.
#pragma once
#include <hocket/base/platform/config.hpp>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || HOCKET_HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>

namespace hocket::inline HOCKET_ABI {

inline void poison_memory(const void* low, std::size_t size) noexcept { __asan_poison_memory_region(low, size); }
inline void unpoison_memory(const void* low, std::size_t size) noexcept { __asan_unpoison_memory_region(low, size); }

}  // namespace hocket::inline HOCKET_ABI
#else
namespace hocket::inline HOCKET_ABI {

inline void poison_memory(const void*, std::size_t) noexcept {}
inline void unpoison_memory(const void*, std::size_t) noexcept {}

}  // namespace hocket::inline HOCKET_ABI
#endif
