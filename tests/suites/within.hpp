// within and or_throw, for every kind.
#pragma once
#include <hocket/core/or_throw.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/time/within.hpp>

#include "suites/oneshot.hpp"
#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <ratio>
#include <vector>

namespace hocket_test {

TEST_CASE_TEMPLATE("what is possible at once is done, whatever the limit", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  hocket::basic_mutex<typename Kind::strength> m;
  Kind world;
  auto lock = [&]() -> typename Kind::body {
    auto held = co_await within(0s, m.lock());
    CHECK(held.has_value());
    held->unlock();
    held = co_await within(-1h, m.lock());
    CHECK(held.has_value());
    held->unlock();
    held = co_await within(hocket::time_point::min(), m.lock());
    CHECK(held.has_value());
  };
  int only = world.start(lock);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("a limit that has passed ends the wait at once", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  hocket::basic_event<typename Kind::strength> never;
  int late = 0;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    for (hocket::duration limit : {hocket::duration(0), hocket::duration(-1h), hocket::duration::min()}) {
      auto got = co_await within(limit, never.wait());
      if (got.error() == std::errc::timed_out) ++late;
    }
    auto got = co_await within(hocket::time_point::min(), never.wait());
    if (got.error() == std::errc::timed_out) ++late;
  };
  int only = world.start(wait);
  world.settle();
  for (int i = 0; i < 4; ++i) world.pass(0ns);
  CHECK(world.ended(only) == fate::ended);
  CHECK(late == 4);
}

TEST_CASE_TEMPLATE("fault 21: a limit beyond the clock never comes", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  using centuries = std::chrono::duration<std::int64_t, std::ratio<3'155'695'200>>;
  hocket::basic_event<typename Kind::strength> go;
  std::atomic<int> in_time{0};
  Kind world;
  auto wait = [&](auto limit) -> typename Kind::body {
    auto got = co_await within(limit, go.wait());
    if (got) ++in_time;
  };
  world.start(wait, hocket::duration::max());
  world.start(wait, std::chrono::hours::max());
  world.start(wait, centuries::max());
  world.start(wait, std::chrono::duration<double>(1e300));
  world.start(wait, hocket::time_point::max());
  world.start(wait, std::chrono::time_point<std::chrono::steady_clock, std::chrono::seconds>::max());
  world.settle();
  world.pass(24h * 365 * 100);
  CHECK(in_time == 0);
  go.set();
  world.settle();
  CHECK(in_time == 6);
}

TEST_CASE_TEMPLATE("a point in time ends a wait when it comes, and of several the earliest", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  hocket::basic_event<typename Kind::strength> never;
  std::vector<int> order;
  Kind world;
  auto until = [&](int n, hocket::time_point limit) -> typename Kind::body {
    (void)co_await within(limit, never.wait());
    order.push_back(n);
  };
  auto both = [&](int n, hocket::duration limit, hocket::time_point other) -> typename Kind::body {
    (void)co_await within(1h, within(other, within(limit, never.wait())));
    order.push_back(n);
  };
  world.start(until, 1, world.now() + 10ms);
  world.start(both, 2, hocket::duration(20ms), world.now() + 1s);
  world.start(both, 3, hocket::duration(1s), world.now() + 30ms);
  world.settle();
  world.pass(9ms);
  CHECK(order.empty());
  for (int i = 1; i <= 3; ++i) {
    world.pass(i == 1 ? 1ms : 10ms);
    CHECK(order.size() == static_cast<std::size_t>(i));
  }
  CHECK(order == std::vector{1, 2, 3});
}

TEST_CASE_TEMPLATE("fault 16: a limit that is over as the wait is granted ends it once", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (bool granted_first : {true, false}) {
    auto ends = oneshot_of<Kind, int>();
    int returns = 0;
    bool got = false;
    Kind world;
    auto receive = [&]() -> typename Kind::body {
      auto value = co_await within(10ms, ends.receiver.receive());
      ++returns;
      got = value.has_value();
    };
    world.start(receive);
    world.settle();
    if (granted_first) ends.sender.send(7);
    world.pass(10ms);
    if (!granted_first) ends.sender.send(7);
    world.settle();
    CHECK(returns == 1);
    CHECK(got == granted_first);
  }
}

TEST_CASE_TEMPLATE("or_throw gives the value, or throws what went wrong", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  hocket::basic_event<typename Kind::strength> never;
  auto ends = oneshot_of<Kind, std::unique_ptr<int>>();
  ends.sender.send(std::make_unique<int>(7));
  int step = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto seven = co_await or_throw(ends.receiver.receive());
    CHECK(*seven == 7);
    step = 1;
    try {
      (void)co_await or_throw(ends.receiver.receive());
    } catch (const std::system_error& error) {
      CHECK(error.code() == std::errc::broken_pipe);
      step = 2;
    }
    try {
      co_await or_throw(within(1ms, never.wait()));
    } catch (const std::system_error& error) {
      CHECK(error.code() == std::errc::timed_out);
      step = 3;
    }
    try {
      co_await or_throw(never.wait());
    } catch (const hocket::cancelled&) {
      step = 4;
    }
  };
  int only = world.start(body);
  world.settle();
  CHECK(step == 2);
  world.pass(1ms);
  CHECK(step == 3);
  world.cancel(only);
  world.settle();
  CHECK(step == 4);
  CHECK(world.ended(only) == fate::ended);
}

}  // namespace hocket_test
