// A place in the source, as a scalar.
//
// g++ gives every class temporary of an expression that awaits a place in the coroutine's frame, and a
// std::source_location is a class. So what is awaited takes its place as a number:
//
//   [[nodiscard]] operation<locking> lock(source_place at = this_place()) noexcept;
#pragma once
#include <hocket/base/platform/config.hpp>
#include <bit>
#include <cstdint>
#include <source_location>

namespace hocket::inline HOCKET_ABI {

enum class source_place : std::uintptr_t {};  // zero: not told

static_assert(sizeof(source_place) == sizeof(std::source_location),
              "hocket: the std::source_location of this standard library is no pointer: port base/source_place.hpp");

inline std::source_location location_of(source_place place) noexcept {
  return std::bit_cast<std::source_location>(place);
}
inline source_place place_of(const std::source_location& location) noexcept {
  return std::bit_cast<source_place>(location);
}

// As a default argument: where the function is called. (std::source_location::current() would be a class temporary
// there.)
inline source_place this_place(const void* at = __builtin_source_location()) noexcept {
  return static_cast<source_place>(reinterpret_cast<std::uintptr_t>(at));
}

}  // namespace hocket::inline HOCKET_ABI
