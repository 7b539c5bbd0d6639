// Where something was called from, as a scalar.
//
// g++ gives every class temporary of an expression that awaits a place in the coroutine's frame, and a
// std::source_location is a class. So what is awaited takes the place of its call as a number:
//
//   [[nodiscard]] operation<locking> lock(call_site at = this_call_site()) noexcept;
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <bit>
#include <cstdint>
#include <source_location>

namespace hocket { inline namespace HOCKET_ABI {

// A place in the source; zero: it is not told.
enum class call_site : std::uintptr_t {};

// As a default argument: where the function is called. (std::source_location::current() would be a class temporary
// there.)
inline call_site this_call_site(const void* at = __builtin_source_location()) noexcept {
  return static_cast<call_site>(reinterpret_cast<std::uintptr_t>(at));
}

namespace detail {

static_assert(sizeof(call_site) == sizeof(std::source_location),
              "hocket: the std::source_location of this standard library is no pointer: port base/seam/call_site.hpp");

inline std::source_location location_of(call_site at) noexcept { return std::bit_cast<std::source_location>(at); }
inline call_site site_of(const std::source_location& location) noexcept { return std::bit_cast<call_site>(location); }

}  // namespace detail

}}  // namespace hocket
