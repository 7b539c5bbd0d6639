// The channel between one sender and one receiver, for every kind.
#pragma once
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/time/within.hpp>

#include "suites/channels.hpp"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

namespace hocket_test {

template <class Kind, class T>
using spsc_of = hocket::basic_spsc_channel<typename Kind::strength, T>;

TEST_CASE_TEMPLATE("one to one: items come out in order, until the channel is closed and drained", Kind,
                   HOCKET_SUITE_KINDS) {
  for (std::size_t places : {1u, 3u}) {
    for (bool receiver_first : {false, true}) {
      spsc_of<Kind, parcel> c(places);
      std::vector<int> got;
      std::error_code end;
      Kind world;
      auto send = [&]() -> typename Kind::body {
        for (int i = 0; i < 7; ++i) {
          auto item = pack(i);
          auto sent = co_await c.send(std::move(item));
          CHECK(sent.has_value());
          CHECK_FALSE(item);
        }
        CHECK(c.close());
        CHECK_FALSE(c.close(std::make_error_code(std::errc::io_error)));
      };
      auto receive = [&]() -> typename Kind::body {
        for (;;) {
          auto item = co_await c.receive();
          if (!item) {
            end = item.error();
            break;
          }
          got.push_back(**item);
        }
      };
      if (receiver_first) world.start(receive);
      world.start(send);
      if (!receiver_first) world.start(receive);
      world.settle();
      CHECK(got == std::vector{0, 1, 2, 3, 4, 5, 6});
      CHECK(end == hocket::errc::closed);
      CHECK(end == std::errc::broken_pipe);
      CHECK(c.is_closed());
      CHECK(c.size() == 0);
      CHECK(c.capacity() == places);
    }
  }
}

TEST_CASE_TEMPLATE("one to one: the sender waits for a place", Kind, HOCKET_SUITE_KINDS) {
  spsc_of<Kind, int> c(2);
  std::atomic<int> sent{0};
  Kind world;
  auto send = [&]() -> typename Kind::body {
    for (int i = 0; i < 5; ++i) {
      auto done = co_await c.send(i);
      if (done) ++sent;
    }
  };
  world.start(send);
  world.settle();
  CHECK(sent == 2);
  CHECK(c.size() == 2);
  for (int i = 0; i < 5; ++i) {
    auto item = c.try_receive();
    REQUIRE(item);
    CHECK(*item == i);
    world.settle();
    CHECK(sent == std::min(5, 2 + i + 1));
  }
  CHECK(c.try_receive().error() == std::errc::resource_unavailable_try_again);
}

TEST_CASE_TEMPLATE("one to one: try_send and try_receive never wait, and leave what they cannot send", Kind,
                   HOCKET_SUITE_KINDS) {
  spsc_of<Kind, parcel> c(1);
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto one = pack(1), two = pack(2);
    CHECK(c.try_receive().error() == std::errc::resource_unavailable_try_again);
    CHECK(c.try_send(std::move(one)));
    CHECK(c.try_send(std::move(two)).error() == std::errc::resource_unavailable_try_again);
    REQUIRE(two);
    c.close();
    CHECK(c.try_send(std::move(two)).error() == hocket::errc::closed);
    REQUIRE(two);
    CHECK(**c.try_receive() == 1);
    CHECK(c.try_receive().error() == hocket::errc::closed);
    CHECK(c.try_receive().error() == hocket::errc::closed);
    co_return;
  };
  int only = world.start(body);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("fault 19: one to one, close lets go on who waits, with the error, and no item is lost", Kind,
                   HOCKET_SUITE_KINDS) {
  const auto why = std::make_error_code(std::errc::host_unreachable);
  spsc_of<Kind, parcel> c(2);
  spsc_of<Kind, int> empty(3);
  int sent = 0, failed = 0;
  parcel kept;
  Kind world;
  auto send = [&]() -> typename Kind::body {
    for (;;) {
      auto item = pack(sent);
      auto done = co_await c.send(std::move(item));
      if (!done) {
        CHECK(done.error() == why);
        kept = std::move(item);
        break;
      }
      ++sent;
    }
  };
  auto receive = [&]() -> typename Kind::body {
    auto item = co_await empty.receive();
    CHECK(item.error() == why);
    ++failed;
  };
  world.start(send);
  world.start(receive);
  world.settle();
  CHECK(sent == 2);
  CHECK(c.close(why));
  CHECK(empty.close(why));
  world.settle();
  CHECK(failed == 1);
  CHECK(sent == 2);
  REQUIRE(kept);
  CHECK(*kept == 2);
  for (int n : {0, 1}) CHECK(**c.try_receive() == n);
  CHECK(c.try_receive().error() == why);
}

TEST_CASE_TEMPLATE("faults 12, 13, 19: one to one, who ends a wait leaves the item where it was", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (int how : {0, 1, 2}) {
    spsc_of<Kind, parcel> c(1);
    parcel mine;
    std::error_code error;
    int later = 0;
    CHECK(c.try_send(pack(9)));
    Kind world;
    auto strike = [&](int victim) {
      if (how == 0) world.cancel(victim);
      if (how == 1) world.kill(victim);
      if (how == 2) world.pass(10ms);
      world.settle();
      CHECK(world.ended(victim) == (how == 1 ? fate::killed : fate::ended));
      if (how == 0) CHECK(error == std::errc::operation_canceled);
      if (how == 2) CHECK(error == std::errc::timed_out);
    };
    auto send = [&](int n, hocket::duration limit) -> typename Kind::body {
      mine = pack(n);
      auto done = co_await within(limit, c.send(std::move(mine)));
      error = done ? std::error_code{} : done.error();
    };
    auto receive = [&](hocket::duration limit) -> typename Kind::body {
      auto got = co_await within(limit, c.receive());
      error = got ? std::error_code{} : got.error();
      if (got) later = **got;
    };
    int sender = world.start(send, 1, hocket::duration(10ms));
    world.settle();
    strike(sender);
    REQUIRE(mine);
    CHECK(*mine == 1);
    sender = world.start(send, 2, hocket::duration(1h));
    world.settle();
    CHECK(**c.try_receive() == 9);
    world.settle();
    CHECK(world.ended(sender) == fate::ended);
    CHECK_FALSE(mine);
    CHECK(**c.try_receive() == 2);
    int receiver = world.start(receive, hocket::duration(10ms));
    world.settle();
    strike(receiver);
    world.start(receive, hocket::duration(1h));
    world.settle();
    CHECK(c.try_send(pack(3)));
    world.settle();
    CHECK(later == 3);
  }
}

TEST_CASE_TEMPLATE("fault 12: one to one, who was granted and is killed before it goes on has done it", Kind,
                   HOCKET_SUITE_KINDS) {
  if constexpr (takes_turns<Kind>) {
    spsc_of<Kind, int> c(1);
    int got = 0;
    Kind world;
    auto receive = [&]() -> typename Kind::body {
      auto item = co_await c.receive();
      got = *item;
      auto more = co_await c.receive();
      static_cast<void>(more);
    };
    int receiver = world.start(receive);
    world.settle();
    CHECK(c.try_send(5));
    world.kill(receiver);
    world.settle();
    CHECK(got == 5);
    CHECK(world.ended(receiver) == fate::killed);
    CHECK(c.try_send(6));
    auto send = [&]() -> typename Kind::body {
      auto sent = co_await c.send(7);
      CHECK(sent.has_value());
    };
    int sender = world.start(send);
    world.settle();
    CHECK(*c.try_receive() == 6);
    world.kill(sender);
    world.settle();
    CHECK(*c.try_receive() == 7);
  }
}

}  // namespace hocket_test
