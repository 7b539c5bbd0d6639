// FAULTS 21: timers at the ends of the clock. A time before all others fires at the next turn, "never" never does, and
// nothing wraps (Photon PR 73, embassy#6141, async-io#238). Durations: fault_21_duration_extremes.cpp.
#include "unit/time/wheel_stand.hpp"

#include <algorithm>
#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

const time_point extremes[] = {time_point::min(),       time_point::min() + 1ns, at(-1), at(0), at(1),
                               time_point::max() - 1ns, time_point::max()};

}  // namespace

TEST_CASE("fault 21: from every extreme to every extreme a timer fires when the clock is there, and not before") {
  for (auto start : extremes) {
    for (auto due : extremes) {
      CAPTURE(start.time_since_epoch().count());
      CAPTURE(due.time_since_epoch().count());
      wheel_stand s(start);
      test_timer a(due);
      s.wheel.attach(a);
      CHECK(a.fired == 0);
      if (due > start) {
        CHECK_FALSE(s.wheel.advance());
        CHECK(a.fired == 0);
        CHECK(s.wheel.next_expiry() == due);
        CHECK_FALSE(s.turn_at(due - 1ns));
        CHECK(a.fired == 0);
      }
      CHECK_FALSE(s.turn_at(std::max(start, due)));
      CHECK(a.fired == 1);
      CHECK(s.wheel.empty());
    }
  }
}

TEST_CASE("fault 21: a deadline of duration::max() from now is never, wherever the clock stands") {
  for (auto start : {time_point{}, at(1), at(1'000'000'000'000'000'000)}) {
    wheel_stand s(start);
    test_timer never(deadline_after(start, duration::max())), soon(deadline_after(start, 1ms));
    s.wheel.attach(never);
    s.wheel.attach(soon);
    CHECK(s.wheel.next_expiry() == start + 1ms);
    s.turn_at(start + 1ms);
    CHECK(s.wheel.next_expiry() == time_point::max());
    s.turn_at(time_point::max() - 1ns);
    CHECK(soon.fired == 1);
    CHECK(never.fired == 0);
    CHECK(s.wheel.detach(never));
  }
}

TEST_CASE("fault 21: a negative wait is over at the next turn") {
  for (auto start : {time_point::min(), at(-5), at(0), at(5), time_point::max()}) {
    for (auto wait : {duration::min(), -1ns, 0ns}) {
      wheel_stand s(start);
      test_timer a(deadline_after(start, wait));
      s.wheel.attach(a);
      CHECK(s.wheel.next_expiry() <= start);
      CHECK_FALSE(s.wheel.advance());
      CHECK(a.fired == 1);
    }
  }
}

TEST_CASE("fault 21: at the end of time everything is due, and the wheel still works") {
  wheel_stand s(time_point::max());
  test_timer never(time_point::max()), past(time_point::min());
  s.wheel.attach(never);
  s.wheel.attach(past);
  CHECK_FALSE(s.wheel.advance());
  CHECK(never.fired + past.fired == 2);
  s.wheel.attach(never);
  CHECK(s.wheel.detach(never));
  CHECK(s.wheel.empty());
}
