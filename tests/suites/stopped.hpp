// stopped(), and selects of everything there is to select from, for every kind.
#pragma once
#include <hocket/sync/channel.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/stopped.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <optional>

namespace hocket_test {

TEST_CASE_TEMPLATE("a stop lets through all who wait for it, and who comes later", Kind, HOCKET_SUITE_KINDS) {
  for (hocket::stop_level level : {hocket::stop_level::cancel, hocket::stop_level::kill}) {
    hocket::stop_source quit;
    std::atomic<int> told{0};
    Kind world;
    auto wait = [&]() -> typename Kind::body {
      auto got = co_await hocket::stopped(quit);
      if (got) ++told;
    };
    for (int i = 0; i < 3; ++i) world.start(wait);
    world.settle();
    CHECK(told == 0);
    CHECK(quit.request(level));
    world.settle();
    CHECK(told == 3);
    world.start(wait);
    world.settle();
    CHECK(told == 4);
  }
}

TEST_CASE_TEMPLATE("a stop of the source above is a stop", Kind, HOCKET_SUITE_KINDS) {
  hocket::stop_source above, below;
  hocket::detail::stop_link link(above, below);
  bool told = false;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto got = co_await hocket::stopped(below);
    told = got.has_value();
  };
  world.start(wait);
  world.settle();
  CHECK_FALSE(told);
  above.request();
  world.settle();
  CHECK(told);
}

TEST_CASE_TEMPLATE("a wait for a stop is cancelled, timed and killed alone, and leaves nothing at the source", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (int how : {0, 1, 2}) {
    hocket::stop_source quit;
    std::optional<std::error_code> errors[3];
    Kind world;
    auto wait = [&](int self) -> typename Kind::body {
      auto got = co_await within(self == 1 ? hocket::duration(50ms) : hocket::duration(1h), hocket::stopped(quit));
      errors[self] = got ? std::error_code{} : got.error();
    };
    int ids[3];
    for (int self : {0, 1, 2}) ids[self] = world.start(wait, self);
    world.settle();
    if (how == 0) world.cancel(ids[1]);
    if (how == 1) world.pass(50ms);
    if (how == 2) world.kill(ids[1]);
    world.settle();
    CHECK(world.ended(ids[1]) == (how == 2 ? fate::killed : fate::ended));
    if (how == 0) CHECK(*errors[1] == std::errc::operation_canceled);
    if (how == 1) CHECK(*errors[1] == std::errc::timed_out);
    CHECK_FALSE(errors[0]);
    quit.request();
    world.settle();
    CHECK(*errors[0] == std::error_code{});
    CHECK(*errors[2] == std::error_code{});
  }
}

// A receive, a send, a sleep, an event and a stop.
template <class Kind>
struct mixed_sources {
  using strength = typename Kind::strength;
  hocket::basic_channel<strength, int> in{1}, out{0};
  hocket::basic_event<strength> event;
  hocket::stop_source quit;

  auto any(hocket::duration time) {
    return hocket::select(in.receive(), out.send(7), hocket::sleep_for(time), event.wait(), hocket::stopped(quit));
  }
  auto any_now() {
    return hocket::try_select(in.receive(), out.send(7), hocket::sleep_for(std::chrono::hours(1)), event.wait(),
                              hocket::stopped(quit));
  }
};

TEST_CASE_TEMPLATE("a select of channels, a sleep, an event and a stop takes the one that comes, and leaves the others",
                   Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (std::size_t which : {0u, 1u, 2u, 3u, 4u}) {
    CAPTURE(which);
    mixed_sources<Kind> of;
    std::optional<std::size_t> index;
    Kind world;
    auto wait = [&]() -> typename Kind::body {
      auto got = co_await of.any(10ms);
      REQUIRE(got);
      index = got->index();
      if (*index == 0) CHECK(*got->template get<0>() == 1);
    };
    world.start(wait);
    world.settle();
    world.pass(9ms);
    CHECK_FALSE(index);
    auto grant = [&](std::size_t n) {
      if (n == 0) CHECK(of.in.try_send(1));
      if (n == 1) CHECK(of.out.try_receive().has_value() == (which == 1));
      if (n == 2) world.pass(1ms);
      if (n == 3) of.event.set();
      if (n == 4) CHECK(of.quit.request());
    };
    grant(which);
    for (std::size_t other : {0u, 1u, 2u, 3u, 4u})
      if (other != which) grant(other);
    world.settle();
    CHECK(index == which);
    CHECK(of.in.size() == (which == 0 ? 0 : 1));
  }
}

TEST_CASE_TEMPLATE("try_select of channels, a sleep, an event and a stop never waits", Kind, HOCKET_SUITE_KINDS) {
  mixed_sources<Kind> of;
  Kind world;
  auto look = [&]() -> typename Kind::body {
    {
      auto none = of.any_now();
      CHECK(none.error() == std::errc::resource_unavailable_try_again);
    }
    CHECK(of.in.try_send(1));
    {
      auto got = of.any_now();
      CHECK(got->index() == 0);
      CHECK(*got->template get<0>() == 1);
    }
    of.quit.request();
    {
      auto got = of.any_now();
      CHECK(got->index() == 4);
    }
    of.in.close();
    auto closed = hocket::try_select(of.in.receive(), of.event.wait());
    CHECK(closed->template get<0>().error() == hocket::errc::closed);
    auto slept = hocket::try_select(of.event.wait(), hocket::sleep_for(std::chrono::seconds(0)));
    CHECK(slept->index() == 1);
    co_return;
  };
  int only = world.start(look);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("a select with a stop that is cancelled, timed out or killed takes itself out of the source", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (int how : {0, 1, 2}) {
    mixed_sources<Kind> of;
    std::optional<std::error_code> error;
    Kind world;
    auto wait = [&]() -> typename Kind::body {
      auto got = co_await within(50ms, of.any(1h));
      error = got.error();
    };
    int id = world.start(wait);
    world.settle();
    if (how == 0) world.cancel(id);
    if (how == 1) world.pass(50ms);
    if (how == 2) world.kill(id);
    world.settle();
    CHECK(world.ended(id) == (how == 2 ? fate::killed : fate::ended));
    if (how == 0) CHECK(*error == std::errc::operation_canceled);
    if (how == 1) CHECK(*error == std::errc::timed_out);
    CHECK(of.quit.request());
    CHECK_FALSE(of.out.try_receive());
  }
}

}  // namespace hocket_test
