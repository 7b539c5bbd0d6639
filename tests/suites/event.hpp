// The event and the auto-reset event, for every kind.
#pragma once
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <vector>

namespace hocket_test {

TEST_CASE_TEMPLATE("an event that is set lets everybody through, until it is reset", Kind, HOCKET_SUITE_KINDS) {
  hocket::basic_event<typename Kind::strength> event;
  std::atomic<int> through{0};
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto set = co_await event.wait();
    CHECK(set.has_value());
    ++through;
  };
  world.start(wait);
  world.start(wait);
  world.settle();
  CHECK(through == 0);
  event.set();
  event.set();
  CHECK(event.is_set());
  world.settle();
  CHECK(through == 2);
  world.start(wait);
  world.settle();
  CHECK(through == 3);
  event.reset();
  event.reset();
  CHECK_FALSE(event.is_set());
  world.start(wait);
  world.settle();
  CHECK(through == 3);
}

TEST_CASE_TEMPLATE("a set lets those through who waited, though the event is reset at once", Kind, HOCKET_SUITE_KINDS) {
  hocket::basic_event<typename Kind::strength> event;
  record_of<Kind, int> through;
  Kind world;
  auto wait = [&](int n) -> typename Kind::body {
    auto set = co_await event.wait();
    CHECK(set.has_value());
    through.push_back(n);
    if constexpr (!takes_turns<Kind>) co_return;  // who goes on at once may come before the reset
    (void)co_await event.wait();
    through.push_back(-n);
  };
  for (int n : {1, 2, 3}) world.start(wait, n);
  world.settle();
  event.set();
  event.reset();
  world.settle();
  CHECK(through == std::vector{1, 2, 3});
}

TEST_CASE_TEMPLATE("an event may be destroyed by whoever it lets through", Kind, HOCKET_SUITE_KINDS) {
  auto event = std::make_unique<hocket::basic_event<typename Kind::strength>>();
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto set = co_await event->wait();
    CHECK(set.has_value());
    event.reset();
  };
  world.start(wait);
  world.settle();
  event->set();
  world.settle();
  CHECK(event == nullptr);
}

TEST_CASE_TEMPLATE("a wait for an event is cancelled, timed and killed alone", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  hocket::basic_event<typename Kind::strength> event;
  std::vector<std::error_code> ends(4);
  Kind world;
  auto wait = [&](std::size_t n, hocket::duration limit) -> typename Kind::body {
    auto got = co_await within(limit, event.wait());
    if (!got) ends[n] = got.error();
  };
  int patient = world.start(wait, 0u, hocket::duration::max());
  int cancelled = world.start(wait, 1u, hocket::duration::max());
  int late = world.start(wait, 2u, 5ms);
  int killed = world.start(wait, 3u, hocket::duration(1s));
  world.settle();
  world.cancel(cancelled);
  world.kill(killed);
  world.pass(5ms);
  CHECK(ends[1] == std::errc::operation_canceled);
  CHECK(ends[2] == std::errc::timed_out);
  CHECK(world.ended(late) == fate::ended);
  CHECK(world.ended(killed) == fate::killed);
  CHECK(world.ended(patient) == fate::running);
  event.set();
  world.settle();
  CHECK(world.ended(patient) == fate::ended);
  CHECK_FALSE(ends[0]);
}

TEST_CASE_TEMPLATE("an auto-reset event lets one through for each set, and keeps one", Kind, HOCKET_SUITE_KINDS) {
  hocket::basic_auto_reset_event<typename Kind::strength> event;
  record_of<Kind, int> through;
  Kind world;
  auto wait = [&](int n) -> typename Kind::body {
    auto set = co_await event.wait();
    CHECK(set.has_value());
    through.push_back(n);
  };
  for (int n : {1, 2, 3}) world.start(wait, n);
  world.settle();
  event.set();
  world.settle();
  CHECK(through == std::vector{1});
  event.set();
  event.set();
  event.set();
  event.set();
  world.settle();
  CHECK(through == std::vector{1, 2, 3});
  world.start(wait, 4);
  world.settle();
  CHECK(through == std::vector{1, 2, 3, 4});
  CHECK_FALSE(event.try_wait());
  event.set();
  CHECK(event.try_wait());
}

TEST_CASE_TEMPLATE("fault 12: an auto-reset event granted to one who is killed is not lost", Kind, HOCKET_SUITE_KINDS) {
  hocket::basic_auto_reset_event<typename Kind::strength> event;
  bool got = false;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto set = co_await event.wait();
    CHECK(set.has_value());
    got = true;
  };
  int victim = world.start(wait);
  int next = world.start(wait);
  world.settle();
  world.kill(victim);
  event.set();
  world.settle();
  CHECK(world.ended(victim) == fate::killed);
  CHECK(world.ended(next) == fate::ended);
  CHECK(got);
}

}  // namespace hocket_test
