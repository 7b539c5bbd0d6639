// The mutex, for every kind.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <vector>

namespace hocket_test {

template <class Kind>
using mutex_of = hocket::basic_mutex<typename Kind::strength>;
template <class Kind>
using event_of = hocket::basic_event<typename Kind::strength>;

TEST_CASE_TEMPLATE("a free mutex is locked without waiting, and its guard unlocks it", Kind, HOCKET_SUITE_KINDS) {
  mutex_of<Kind> m;
  Kind world;
  auto lock = [&]() -> typename Kind::body {
    {
      auto held = co_await m.lock();
      CHECK(held.has_value());
      CHECK_FALSE(m.try_lock());
    }
    CHECK(static_cast<bool>(m.try_lock()));
  };
  int only = world.start(lock);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("a mutex is handed over in the order of coming", Kind, HOCKET_SUITE_KINDS) {
  mutex_of<Kind> m;
  event_of<Kind> go;
  std::vector<int> order;
  Kind world;
  auto lock = [&](int n) -> typename Kind::body {
    auto held = co_await m.lock();
    order.push_back(n);
    auto set = co_await go.wait();
    CHECK(set.has_value());
  };
  for (int n : {1, 2, 3, 4}) world.start(lock, n);
  world.settle();
  CHECK(order == std::vector{1});
  go.set();
  world.settle();
  CHECK(order == std::vector{1, 2, 3, 4});
}

TEST_CASE_TEMPLATE("nobody overtakes the line of a mutex", Kind, HOCKET_SUITE_KINDS) {
  mutex_of<Kind> m;
  event_of<Kind> never;
  bool got = false;
  Kind world;
  auto lock = [&]() -> typename Kind::body {
    auto early = m.try_lock();
    CHECK(static_cast<bool>(early));
    auto next = [&]() -> typename Kind::body {
      auto held = co_await m.lock();
      got = held.has_value();
    };
    world.start(next);
    (void)co_await within(std::chrono::seconds(1), never.wait());
    early.unlock();
    if constexpr (takes_turns<Kind>) {
      CHECK_FALSE(m.try_lock());
      CHECK_FALSE(got);
    }
  };
  world.start(lock);
  world.settle();
  CHECK_FALSE(got);
  world.pass(std::chrono::seconds(1));
  CHECK(got);
}

TEST_CASE_TEMPLATE("a lock that is cancelled says so, and the next in line is not held up", Kind, HOCKET_SUITE_KINDS) {
  mutex_of<Kind> m;
  event_of<Kind> done;
  std::error_code first_error;
  bool second_got = false;
  Kind world;
  auto hold = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    auto set = co_await done.wait();
    CHECK(set.has_value());
  };
  auto first = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    if (!held) first_error = held.error();
  };
  auto second = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    second_got = held.has_value();
  };
  world.start(hold);
  int cancelled = world.start(first);
  world.start(second);
  world.settle();
  world.cancel(cancelled);
  world.settle();
  CHECK(first_error == std::errc::operation_canceled);
  CHECK(world.ended(cancelled) == fate::ended);
  CHECK_FALSE(second_got);
  done.set();
  world.settle();
  CHECK(second_got);
}

TEST_CASE_TEMPLATE("a lock within a limit times out then, not earlier, and leaves the line", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  mutex_of<Kind> m;
  event_of<Kind> done;
  std::optional<std::error_code> error;
  Kind world;
  auto hold = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    auto set = co_await done.wait();
    CHECK(set.has_value());
  };
  auto wait = [&]() -> typename Kind::body {
    auto held = co_await within(50ms, m.lock());
    error = held.error();
  };
  world.start(hold);
  world.start(wait);
  world.settle();
  world.pass(49ms);
  CHECK_FALSE(error);
  world.pass(1ms);
  REQUIRE(error);
  CHECK(*error == std::errc::timed_out);
  done.set();
  world.settle();
  CHECK(static_cast<bool>(m.try_lock()));
}

TEST_CASE_TEMPLATE("a mutex that comes within the limit is locked", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  mutex_of<Kind> m;
  event_of<Kind> done;
  bool got = false;
  Kind world;
  auto hold = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    auto set = co_await done.wait();
    CHECK(set.has_value());
  };
  auto wait = [&]() -> typename Kind::body {
    auto held = co_await within(50ms, m.lock());
    got = held.has_value();
  };
  world.start(hold);
  world.start(wait);
  world.settle();
  world.pass(49ms);
  done.set();
  world.settle();
  CHECK(got);
  world.pass(1s);
}

TEST_CASE_TEMPLATE("whoever is killed while it waits for a mutex unwinds, and whoever holds it unlocks", Kind,
                   HOCKET_SUITE_KINDS) {
  mutex_of<Kind> m;
  event_of<Kind> never;
  bool last_got = false;
  Kind world;
  auto hold = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    (void)co_await never.wait();
  };
  auto last = [&]() -> typename Kind::body {
    auto got = co_await m.lock();
    last_got = got.has_value();
  };
  int holder = world.start(hold);
  int waiter = world.start(hold);
  world.start(last);
  world.settle();
  world.kill(waiter);
  world.settle();
  CHECK(world.ended(waiter) == fate::killed);
  CHECK(world.ended(holder) == fate::running);
  world.kill(holder);
  world.settle();
  CHECK(world.ended(holder) == fate::killed);
  CHECK(last_got);
}

TEST_CASE_TEMPLATE("fault 12: a mutex granted to one who is killed before it runs is not lost", Kind,
                   HOCKET_SUITE_KINDS) {
  mutex_of<Kind> m;
  event_of<Kind> never;
  event_of<Kind> go;
  int victim = -1;
  Kind world;
  auto hold = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    auto set = co_await go.wait();
    CHECK(set.has_value());
    held->unlock();
    world.kill(victim);
  };
  auto wait = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    (void)co_await never.wait();
  };
  world.start(hold);
  victim = world.start(wait);
  world.settle();
  go.set();
  world.settle();
  CHECK(world.ended(victim) == fate::killed);
  CHECK(static_cast<bool>(m.try_lock()));
}

TEST_CASE_TEMPLATE("a mutex keeps a critical section that waits to one coroutine at a time", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  constexpr int workers = 5, rounds = 4;
  mutex_of<Kind> m;
  event_of<Kind> never;
  int count = 0;
  Kind world;
  auto work = [&]() -> typename Kind::body {
    for (int i = 0; i < rounds; ++i) {
      auto held = co_await m.lock();
      int seen = count;
      (void)co_await within(1ms, never.wait());
      count = seen + 1;
    }
  };
  std::vector<int> all;
  for (int i = 0; i < workers; ++i) all.push_back(world.start(work));
  world.settle();
  for (int i = 0; i < workers * rounds; ++i) world.pass(1ms);
  for (int one : all) CHECK(world.ended(one) == fate::ended);
  CHECK(count == workers * rounds);
}

}  // namespace hocket_test
