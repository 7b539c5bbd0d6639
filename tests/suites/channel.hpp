// The channel, for every kind.
#pragma once
#include <hocket/time/within.hpp>

#include "suites/channels.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <vector>

namespace hocket_test {

TEST_CASE_TEMPLATE("items come out in the order in which they went in, until the channel is closed and drained", Kind,
                   HOCKET_SUITE_KINDS) {
  for (int places : {0, 1, 3, -1}) {
    for (bool receiver_first : {false, true}) {
      auto c = channel_with<Kind, parcel>(places);
      std::vector<int> got;
      std::error_code end;
      Kind world;
      auto send = [&]() -> typename Kind::body {
        for (int i = 0; i < 7; ++i) {
          auto item = pack(i);
          auto sent = co_await c->send(std::move(item));
          CHECK(sent.has_value());
          CHECK_FALSE(item);
        }
        CHECK(c->close());
        CHECK_FALSE(c->close(std::make_error_code(std::errc::io_error)));
      };
      auto receive = [&]() -> typename Kind::body {
        for (;;) {
          auto item = co_await c->receive();
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
      CHECK(c->is_closed());
      CHECK(c->size() == 0);
    }
  }
}

TEST_CASE_TEMPLATE("a sender waits for a place, or with no places for a receiver", Kind, HOCKET_SUITE_KINDS) {
  for (int places : {0, 2}) {
    auto c = channel_with<Kind, int>(places);
    std::atomic<int> sent{0};
    Kind world;
    auto send = [&]() -> typename Kind::body {
      for (int i = 0; i < 5; ++i) {
        auto done = co_await c->send(i);
        if (done) ++sent;
      }
    };
    world.start(send);
    world.settle();
    CHECK(sent == places);
    CHECK(c->size() == static_cast<std::size_t>(places));
    for (int i = 0; i < 5; ++i) {
      auto item = c->try_receive();
      REQUIRE(item);
      CHECK(*item == i);
      world.settle();
      CHECK(sent == std::min(5, places + i + 1));
    }
    CHECK(c->try_receive().error() == std::errc::resource_unavailable_try_again);
  }
}

TEST_CASE_TEMPLATE("receivers are served in the order of their coming, and so are senders", Kind, HOCKET_SUITE_KINDS) {
  channel_of<Kind, int> c(1);
  record_of<Kind, int> order;
  Kind world;
  auto receive = [&](int n) -> typename Kind::body {
    auto item = co_await c.receive();
    order.push_back(10 * n + *item);
  };
  for (int n : {1, 2, 3}) world.start(receive, n);
  world.settle();
  for (int i : {1, 2, 3}) CHECK(c.try_send(i));
  CHECK(c.size() == 0);
  world.settle();
  CHECK(order == std::vector{11, 22, 33});
  auto send = [&](int n) -> typename Kind::body {
    auto done = co_await c.send(n);
    CHECK(done.has_value());
  };
  for (int n : {4, 5, 6, 7}) world.start(send, n);
  world.settle();
  for (int i : {4, 5, 6, 7}) CHECK(*c.try_receive() == i);
}

TEST_CASE_TEMPLATE("try_send and try_receive never wait, and leave what they cannot send", Kind, HOCKET_SUITE_KINDS) {
  channel_of<Kind, parcel> c(1), none(0);
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto one = pack(1), two = pack(2);
    CHECK(c.try_send(std::move(one)));
    CHECK(c.try_send(std::move(two)).error() == std::errc::resource_unavailable_try_again);
    CHECK(none.try_send(std::move(two)).error() == std::errc::resource_unavailable_try_again);
    CHECK(none.try_receive().error() == std::errc::resource_unavailable_try_again);
    REQUIRE(two);
    c.close();
    CHECK(c.try_send(std::move(two)).error() == hocket::errc::closed);
    REQUIRE(two);
    CHECK(**c.try_receive() == 1);
    CHECK(c.try_receive().error() == hocket::errc::closed);
    co_return;
  };
  int only = world.start(body);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("fault 19: close lets all go on who wait, with the error, and no item is lost", Kind,
                   HOCKET_SUITE_KINDS) {
  const auto why = std::make_error_code(std::errc::host_unreachable);
  for (int places : {0, 2}) {
    auto c = channel_with<Kind, parcel>(places);
    channel_of<Kind, int> empty(3);
    std::atomic<int> kept{0}, sent{0}, failed{0};
    Kind world;
    auto send = [&](int n) -> typename Kind::body {
      auto item = pack(n);
      auto done = co_await c->send(std::move(item));
      if (done) {
        ++sent;
        CHECK_FALSE(item);
      } else {
        CHECK(done.error() == why);
        REQUIRE(item);
        CHECK(*item == n);
        ++kept;
      }
    };
    auto receive = [&]() -> typename Kind::body {
      auto item = co_await empty.receive();
      CHECK(item.error() == why);
      ++failed;
    };
    for (int n = 0; n < 5; ++n) world.start(send, n);
    for (int n = 0; n < 3; ++n) world.start(receive);
    world.settle();
    CHECK(sent == places);
    CHECK(c->close(why));
    CHECK(empty.close(why));
    world.settle();
    CHECK(failed == 3);
    CHECK(sent == places);
    CHECK(kept == 5 - places);
    for (int n = 0; n < places; ++n) CHECK(**c->try_receive() == n);
    CHECK(c->try_receive().error() == why);
  }
}

TEST_CASE_TEMPLATE("faults 12, 19: a sender whose wait is ended by others has its item again", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (int how : {0, 1, 2}) {
    channel_of<Kind, parcel> c(1);
    std::vector<parcel> mine(3);
    std::array<std::optional<std::error_code>, 3> errors;
    CHECK(c.try_send(pack(9)));
    Kind world;
    auto send = [&](int n) -> typename Kind::body {
      auto at = static_cast<std::size_t>(n);
      mine[at] = pack(n);
      auto done = co_await within(n == 0 ? 10ms : 1h, c.send(std::move(mine[at])));
      errors[at] = done ? std::error_code{} : done.error();
    };
    int head = world.start(send, 0);
    world.start(send, 1);
    world.start(send, 2);
    world.settle();
    CHECK_FALSE(mine[0]);
    if (how == 0) world.cancel(head);
    if (how == 1) world.kill(head);
    if (how == 2) world.pass(10ms);
    world.settle();
    REQUIRE(mine[0]);
    CHECK(*mine[0] == 0);
    if (how == 0) CHECK(*errors[0] == std::errc::operation_canceled);
    if (how == 2) CHECK(*errors[0] == std::errc::timed_out);
    CHECK(world.ended(head) == (how == 1 ? fate::killed : fate::ended));
    // Those behind it go on.
    for (int n : {9, 1, 2}) {
      auto item = c.try_receive();
      REQUIRE(item);
      CHECK(**item == n);
    }
    world.settle();
    CHECK(errors[1] == std::error_code{});
    CHECK(errors[2] == std::error_code{});
    CHECK_FALSE(mine[1]);
  }
}

TEST_CASE_TEMPLATE("fault 13: a receiver at the head whose wait is ended holds up nobody", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (int how : {0, 1, 2}) {
    channel_of<Kind, parcel> c(0);
    std::atomic<int> got{0};
    Kind world;
    auto receive = [&](hocket::duration limit) -> typename Kind::body {
      auto item = co_await within(limit, c.receive());
      if (item) got += **item;
    };
    int head = world.start(receive, hocket::duration(5ms));
    world.start(receive, hocket::duration::max());
    world.settle();
    if (how == 0) world.cancel(head);
    if (how == 1) world.kill(head);
    if (how == 2) world.pass(5ms);
    CHECK(c.try_send(pack(7)));
    world.settle();
    CHECK(got == 7);
    auto left = pack(1);
    CHECK_FALSE(c.try_send(std::move(left)));
    CHECK(static_cast<bool>(left));
  }
}

TEST_CASE_TEMPLATE("fault 12: what was granted to a receiver that is killed before it goes on is still received", Kind,
                   HOCKET_SUITE_KINDS) {
  if constexpr (takes_turns<Kind>) {
    channel_of<Kind, parcel> c(0);
    int got = 0;
    Kind world;
    auto receive = [&]() -> typename Kind::body {
      auto item = co_await c.receive();
      got = **item;
      auto more = co_await c.receive();
      static_cast<void>(more);
    };
    int victim = world.start(receive);
    world.settle();
    CHECK(c.try_send(pack(5)));
    world.kill(victim);
    world.settle();
    CHECK(got == 5);
    CHECK(world.ended(victim) == fate::killed);
  }
}

}  // namespace hocket_test
