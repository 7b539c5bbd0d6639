// What the suites of channels are made of.
#pragma once
#include <hocket/sync/channel.hpp>

#include "suites/world.hpp"

#include <memory>

namespace hocket_test {

template <class Kind, class T>
using channel_of = hocket::basic_channel<typename Kind::strength, T>;
using parcel = std::unique_ptr<int>;
inline parcel pack(int n) { return std::make_unique<int>(n); }

// A channel with so many places; -1: no limit.
template <class Kind, class T>
std::unique_ptr<channel_of<Kind, T>> channel_with(int places) {
  using type = channel_of<Kind, T>;
  if (places < 0) return std::make_unique<type>(type::unbounded);
  return std::make_unique<type>(static_cast<std::size_t>(places));
}

}  // namespace hocket_test
