// Batches and selects of channels, for every kind.
#pragma once
#include <hocket/sync/select.hpp>

#include "suites/channels.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <vector>

namespace hocket_test {

TEST_CASE_TEMPLATE("batches go as far as they can without waiting, and wait for one item at most", Kind,
                   HOCKET_SUITE_KINDS) {
  channel_of<Kind, parcel> c(3);
  const auto got = go_in_batches<Kind>(c, 4);
  if constexpr (takes_turns<Kind>) CHECK(got[0] == 4);
}

TEST_CASE_TEMPLATE("a batch whose wait is ended, or that finds the end, keeps its items", Kind, HOCKET_SUITE_KINDS) {
  for (bool close : {false, true}) {
    channel_of<Kind, parcel> c(0);
    keep_items_of_a_batch<Kind>(c, close);
  }
}

TEST_CASE_TEMPLATE("a select sends or receives exactly one item, and keeps the others", Kind, HOCKET_SUITE_KINDS) {
  for (int which : {0, 1, 2}) {
    channel_of<Kind, parcel> out(0), other(0), in(0);
    auto one = pack(1), two = pack(2);
    std::optional<std::size_t> index;
    int received = 0;
    Kind world;
    auto choose = [&]() -> typename Kind::body {
      auto got = co_await select(out.send(std::move(one)), other.send(std::move(two)), in.receive());
      REQUIRE(got);
      index = got->index();
      if (*index == 2) received = **got->template get<2>();
    };
    world.start(choose);
    world.settle();
    CHECK_FALSE(index);
    if (which == 0) CHECK(**out.try_receive() == 1);
    if (which == 1) CHECK(**other.try_receive() == 2);
    if (which == 2) CHECK(in.try_send(pack(3)));
    CHECK_FALSE(out.try_receive());
    CHECK_FALSE(other.try_receive());
    CHECK_FALSE(in.try_send(pack(4)));
    world.settle();
    CHECK(index == static_cast<std::size_t>(which));
    CHECK(static_cast<bool>(one) == (which != 0));
    CHECK(static_cast<bool>(two) == (which != 1));
    CHECK(received == (which == 2 ? 3 : 0));
  }
}

TEST_CASE_TEMPLATE("two selects meet, and one with both ends of a channel does not meet itself", Kind,
                   HOCKET_SUITE_KINDS) {
  channel_of<Kind, int> a(0), b(0);
  std::atomic<int> sent{0}, received{0}, ended{0};
  Kind world;
  auto both_ends = [&](int n) -> typename Kind::body {
    auto got = co_await select(a.send(n), b.send(n), b.receive(), a.receive());
    REQUIRE(got);
    ++ended;
    if (got->index() < 2) sent += n;
    else received += got->index() == 2 ? *got->template get<2>() : *got->template get<3>();
  };
  world.start(both_ends, 1);
  world.settle();
  CHECK(ended == 0);
  world.start(both_ends, 20);
  world.settle();
  CHECK(ended == 2);
  CHECK(sent == received);
  for (int n : {1, 2, 3, 4, 5, 6}) world.start(both_ends, n);
  world.settle();
  CHECK(ended == 8);
  CHECK(sent == received);
}

TEST_CASE_TEMPLATE("a select of both ends of a channel meets a receiver and a sender", Kind, HOCKET_SUITE_KINDS) {
  for (bool takes : {true, false}) {
    channel_of<Kind, int> c(0);
    std::optional<std::size_t> index;
    Kind world;
    auto both_ends = [&]() -> typename Kind::body {
      auto got = co_await select(c.send(7), c.receive());
      REQUIRE(got);
      index = got->index();
    };
    world.start(both_ends);
    world.settle();
    CHECK_FALSE(index);
    if (takes) CHECK(c.try_receive() == 7);
    else CHECK(c.try_send(8));
    world.settle();
    CHECK(index == (takes ? 0u : 1u));
  }
}

TEST_CASE_TEMPLATE("a channel closed in a select is chosen, with its error", Kind, HOCKET_SUITE_KINDS) {
  channel_of<Kind, int> a(0), b(0);
  std::vector<std::size_t> chosen;
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    auto first = co_await select(a.receive(), b.send(1));
    chosen.push_back(first->index());
    CHECK(first->template get<1>().error() == hocket::errc::closed);
    auto again = co_await select(a.receive(), b.receive());
    chosen.push_back(again->index());
    CHECK(again->template get<1>().error() == hocket::errc::closed);
  };
  int only = world.start(choose);
  world.settle();
  b.close();
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(chosen == std::vector<std::size_t>{1, 1});
}

}  // namespace hocket_test
