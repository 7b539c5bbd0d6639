// The number of places of a channel or a broadcast.
#pragma once
#include <hocket/base/fatal.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Returns `places`. A number beyond all memory is fatal: probably it was negative.
template <class T>
std::size_t possible_places(std::size_t places) noexcept {
  if (places > static_cast<std::size_t>(-1) / 4 / sizeof(T)) [[unlikely]]
    fatal("a channel or a broadcast was made with more places than there can be",
          "a negative number, perhaps? Where there is to be no limit, say channel<T>::unbounded");
  return places;
}

}}}  // namespace hocket::detail
