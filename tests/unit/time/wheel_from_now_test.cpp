// Timers for a time from now. On a clock that goes on by itself it is counted from the next turn, and no clock is read
// before.
#include "unit/time/wheel_stand.hpp"

#include <deque>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

struct from_now : test_timer {
  explicit from_now(std::int64_t ns, int n = 0, std::vector<int>* to = nullptr) : test_timer(time_point::max(), n, to) {
    set_after(duration{ns});
  }
};

}  // namespace

TEST_CASE("on a clock that stands still, a time from now is that from the attach on") {
  wheel_stand s(at(100));
  from_now a(10);
  s.wheel.attach_after(a);
  CHECK(a.when == at(110));
  s.time.set(at(105));
  CHECK(s.wheel.next_expiry() == at(110));
  CHECK_FALSE(s.turn_at(at(109)));
  CHECK(a.fired == 0);
  CHECK_FALSE(s.turn_at(at(110)));
  CHECK(a.fired == 1);
}

TEST_CASE("on a clock that flows, a time from now is counted from the next turn, and is never early") {
  flowing_stand s(at(100));
  from_now a(10);
  s.wheel.attach_after(a);
  CHECK(s.time.asked == 1);  // by the wheel's constructor
  CHECK(s.wheel.size() == 1);
  CHECK_FALSE(s.turn_at(at(105)));
  CHECK(a.when == at(115));
  CHECK(s.wheel.next_expiry() == at(115));
  CHECK_FALSE(s.turn_at(at(114)));
  CHECK(a.fired == 0);
  CHECK_FALSE(s.turn_at(at(115)));
  CHECK(a.fired == 1);
  CHECK(s.wheel.empty());
}

TEST_CASE("who asks when the next turn is needed gives a time to what has none") {
  flowing_stand s(at(100));
  from_now a(10), soon(-5);
  s.wheel.attach_after(a);
  s.time.set(at(103));
  CHECK(s.wheel.next_expiry() == at(113));
  s.wheel.attach_after(soon);
  CHECK(s.wheel.next_expiry() <= at(103));
  CHECK(soon.fired == 0);
  s.wheel.advance();
  CHECK(soon.fired == 1);
  CHECK(a.fired == 0);
  CHECK(s.wheel.detach(a));
}

TEST_CASE("a timer that is detached in the turn in which it was attached costs no look at the clock") {
  flowing_stand s;
  from_now a(10);
  for (int i = 0; i < 10; ++i) {
    a.set_after(duration{10});
    s.wheel.attach_after(a);
    CHECK(s.wheel.detach(a));
    CHECK(s.wheel.next_expiry() == time_point::max());
    CHECK_FALSE(s.wheel.advance());
  }
  CHECK(s.time.asked == 1);
  CHECK(a.fired == 0);
}

TEST_CASE("a turn reads the clock once for all that have no time yet") {
  flowing_stand s;
  std::deque<from_now> all;
  for (int i = 0; i < 100; ++i) s.wheel.attach_after(all.emplace_back(1000 + i));
  s.wheel.advance();
  CHECK(s.time.asked == 2);
  CHECK_FALSE(s.turn_at(at(1099)));
  for (auto& a : all) CHECK(a.fired == 1);
}

TEST_CASE_TEMPLATE("of a time and a time from now the earlier counts", Stand, wheel_stand, flowing_stand) {
  Stand s;
  test_timer by_time(at(50)), by_duration(at(50)), never(time_point::max());
  by_time.set_after(duration{51});
  by_duration.set_after(duration{49});
  for (auto* a : {&by_time, &by_duration, &never}) s.wheel.attach_after(*a);
  s.turn_at(at(0));
  CHECK(by_time.when == at(50));
  CHECK(by_duration.when == at(49));
  CHECK(never.when == time_point::max());
  s.turn_at(at(50));
  CHECK(by_time.fired == 1);
  CHECK(by_duration.fired == 1);
  CHECK(s.wheel.detach(never));
}

TEST_CASE("fault 21: times from now beyond the clock, and into the past") {
  const auto late_start = time_point::max() - duration{1000};
  for (auto start : {time_point::min(), at(0), late_start}) {
    flowing_stand s(start);
    from_now longest(0), past(0), nearly(500);
    longest.set_after(duration::max() - duration{1});
    past.set_after(duration::min());
    for (auto* a : {&longest, &past, &nearly}) s.wheel.attach_after(*a);
    s.wheel.advance();
    CHECK(past.fired == 1);
    CHECK(nearly.fired == 0);
    s.turn_at(start + duration{499});
    CHECK(nearly.fired == 0);
    s.turn_at(start + duration{500});
    CHECK(nearly.fired == 1);
    CHECK(longest.fired == 0);
    CHECK(s.wheel.detach(longest));
  }
}

TEST_CASE("times from now fire in their order, equal ones in the order of attach, also when a bound cuts their turn") {
  std::vector<int> log, expected;
  flowing_stand s;
  std::deque<from_now> all;
  for (int i = 0; i < 200; ++i) s.wheel.attach_after(all.emplace_back(5'000'000 - i / 2 * 40'000, i, &log));
  s.wheel.advance();
  s.time.set(at(6'000'000));
  while (s.wheel.advance(7)) {
  }
  for (int i = 99; i >= 0; --i) expected.insert(expected.end(), {2 * i, 2 * i + 1});
  CHECK(log == expected);
}

TEST_CASE("a turn that a bound has cut gives a time to what was attached meanwhile") {
  flowing_stand s;
  std::deque<test_timer> all;
  for (int i = 0; i < 10; ++i) s.wheel.attach(all.emplace_back(at(5)));
  CHECK(s.turn_at(at(5), 3));
  from_now a(100);
  s.wheel.attach_after(a);
  CHECK(s.turn_at(at(7), 3));
  CHECK(a.when == at(107));
  while (s.wheel.advance(3)) {
  }
  CHECK_FALSE(s.turn_at(at(107)));
  CHECK(a.fired == 1);
}

TEST_CASE("a fire may attach for a time from now: it counts from the turn after") {
  flowing_stand s;
  from_now inner(10);
  acting_timer outer(at(10), [&] { s.wheel.attach_after(inner); });
  s.wheel.attach(outer);
  CHECK_FALSE(s.turn_at(at(50)));
  CHECK(s.wheel.next_expiry() == at(60));
  CHECK_FALSE(s.turn_at(at(59)));
  CHECK(inner.fired == 0);
  CHECK_FALSE(s.turn_at(at(60)));
  CHECK(inner.fired == 1);
}

TEST_CASE("what another thread detaches before it has a time fires once, when it is reclaimed") {
  for (bool timed_before : {false, true}) {
    flowing_stand s;
    from_now a(10), b(10);
    s.wheel.attach_after(a);
    s.wheel.attach_after(b);
    std::thread([&] { CHECK_FALSE(s.wheel.detach(a)); }).join();
    if (timed_before) s.wheel.advance();
    CHECK(a.fired == 0);
    CHECK(s.waker.take());
    s.wheel.reclaim();
    CHECK(a.fired == 1);
    CHECK(s.wheel.size() == 1);
    s.wheel.advance();
    CHECK_FALSE(s.turn_at(at(10)));
    CHECK(a.fired == 1);
    CHECK(b.fired == 1);
  }
}

TEST_CASE("timers know the thread that they fire on") {
  wheel_stand s;
  CHECK(s.wheel.fire_here());
  bool there = true;
  std::thread([&] { there = s.wheel.fire_here(); }).join();
  CHECK_FALSE(there);
  still_home elsewhere;
  detail::running_scope outside({&elsewhere}, nullptr);
  CHECK_FALSE(s.wheel.fire_here());
}
