// Time points as unsigned numbers, in the order of time.
#pragma once
#include <hocket/base/clock.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr std::uint64_t origin_of_keys = std::uint64_t{1} << 63;

constexpr std::uint64_t key_of(time_point at) noexcept {
  return static_cast<std::uint64_t>(at.time_since_epoch().count()) ^ origin_of_keys;
}
constexpr time_point time_of(std::uint64_t key) noexcept {
  return time_point{duration{static_cast<std::int64_t>(key ^ origin_of_keys)}};
}
static_assert(key_of(time_point::min()) == 0 && key_of(time_point::max()) == ~std::uint64_t{0});
static_assert(time_of(key_of(time_point{duration{-1}})) == time_point{duration{-1}});

}}}  // namespace hocket::detail
