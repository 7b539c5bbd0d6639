// What two threads must not share by accident.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The unit of false sharing, in bytes. A constant of ours: std::hardware_destructive_interference_size changes with
// -mtune, so two translation units of one program may disagree about it.
inline constexpr std::size_t cache_line_size = 64;

// A T that has its cache lines to itself.
template <class T>
struct alignas(cache_line_size) padded {
  T value{};

  constexpr padded() = default;
  template <class... Args>
  constexpr explicit padded(std::in_place_t, Args&&... args) : value(std::forward<Args>(args)...) {}

  constexpr T& operator*() noexcept { return value; }
  constexpr const T& operator*() const noexcept { return value; }
  constexpr T* operator->() noexcept { return &value; }
  constexpr const T* operator->() const noexcept { return &value; }
};

}}}  // namespace hocket::detail
