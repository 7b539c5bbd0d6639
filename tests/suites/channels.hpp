// What the suites of channels are made of.
#pragma once
#include <hocket/sync/channel.hpp>

#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <span>
#include <vector>

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

// Eight items go through a channel with three places in batches, each as far as it can without waiting. How many each
// of the receiver's batches has got, which had room for `room`.
template <class Kind, class Channel>
std::vector<std::size_t> go_in_batches(Channel& c, std::size_t room) {
  std::vector<std::size_t> sent, got;
  Kind world;
  auto send = [&]() -> typename Kind::body {
    std::vector<parcel> items;
    for (int i = 0; i < 8; ++i) items.push_back(pack(i));
    std::span<parcel> left(items);
    while (!left.empty()) {
      auto n = co_await c.send_batch(left);
      REQUIRE(n);
      sent.push_back(*n);
      left = left.subspan(*n);
    }
    for (const auto& item : items) CHECK_FALSE(item);
    auto none = co_await c.send_batch({});
    CHECK(*none == 0);
    c.close();
    items[0] = pack(1);
    auto late = co_await c.send_batch(items);
    CHECK(late.error() == hocket::errc::closed);
    CHECK(static_cast<bool>(items[0]));
  };
  auto receive = [&]() -> typename Kind::body {
    std::vector<parcel> into(room);
    auto none = co_await c.receive_batch({});
    CHECK(*none == 0);
    int next = 0;
    for (;;) {
      auto n = co_await c.receive_batch(into);
      if (!n) break;
      got.push_back(*n);
      for (std::size_t i = 0; i < *n; ++i) CHECK(*into[i] == next++);
    }
    CHECK(next == 8);
  };
  const int first = world.start(send);
  world.settle();
  CHECK(sent == std::vector<std::size_t>{3});
  const int second = world.start(receive);
  world.settle();
  CHECK(world.ended(first) == fate::ended);
  CHECK(world.ended(second) == fate::ended);
  return got;
}

// A batch waits at a channel that is full, until its wait is cancelled, or it finds the end.
template <class Kind, class Channel>
void keep_items_of_a_batch(Channel& c, bool close) {
  std::vector<parcel> items;
  for (int i = 0; i < 3; ++i) items.push_back(pack(i));
  std::error_code error;
  Kind world;
  auto send = [&]() -> typename Kind::body {
    auto n = co_await c.send_batch(items);
    error = n.error();
  };
  const int only = world.start(send);
  world.settle();
  if (close) c.close();
  else world.cancel(only);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(error == (close ? std::errc::broken_pipe : std::errc::operation_canceled));
  for (int i = 0; i < 3; ++i) CHECK(*items[static_cast<std::size_t>(i)] == i);
}

}  // namespace hocket_test
