// A timer wheel, one behaviour at a time. That it agrees with an ordered map under anything at all:
// wheel_order_test.cpp.
#include "support/death.hpp"
#include "unit/time/wheel_stand.hpp"

#include <deque>
#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

TEST_CASE("a timer fires when its time has come, not a nanosecond before, and once") {
  wheel_stand s;
  test_timer a(at(1000));
  s.wheel.attach(a);
  CHECK(s.wheel.size() == 1);
  CHECK_FALSE(s.turn_at(at(999)));
  CHECK(a.fired == 0);
  CHECK_FALSE(s.turn_at(at(1000)));
  CHECK(a.fired == 1);
  CHECK(s.wheel.empty());
  CHECK_FALSE(s.turn_at(at(2000)));
  CHECK(a.fired == 1);
}

TEST_CASE("a timer that was detached does not fire, and can be attached again") {
  wheel_stand s;
  test_timer a(at(10));
  s.wheel.attach(a);
  CHECK(s.wheel.detach(a));
  CHECK(s.wheel.empty());
  CHECK(s.wheel.next_expiry() == time_point::max());
  s.turn_at(at(20));
  CHECK(a.fired == 0);
  a.when = at(30);
  s.wheel.attach(a);
  s.turn_at(at(30));
  CHECK(a.fired == 1);
}

TEST_CASE("to detach a timer that has fired says that it was popped") {
  wheel_stand s;
  test_timer a(at(10));
  s.wheel.attach(a);
  s.turn_at(at(10));
  CHECK_FALSE(s.wheel.detach(a));
}

TEST_CASE("a timer whose time is past when it is attached fires at the next turn, at the same time") {
  for (auto past : {at(100), at(99), at(0), at(-1), time_point::min()}) {
    wheel_stand s(at(100));
    test_timer a(past);
    s.wheel.attach(a);
    CHECK(a.fired == 0);
    CHECK(s.wheel.next_expiry() <= at(100));
    CHECK_FALSE(s.wheel.advance());
    CHECK(a.fired == 1);
  }
}

TEST_CASE("timers fire in the order of their times, equal ones in the order of attach") {
  std::vector<int> log;
  wheel_stand s;
  std::deque<test_timer> all;
  for (int i = 0; i < 100; ++i) s.wheel.attach(all.emplace_back(at(1'000'000 - i / 4 * 7919), i, &log));
  s.turn_at(at(2'000'000));
  REQUIRE(log.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(log[i] == static_cast<int>((24 - i / 4) * 4 + i % 4));
}

TEST_CASE("equal times keep the order of attach wherever the wheel stood when they were attached") {
  std::vector<int> log;
  wheel_stand s;
  std::deque<test_timer> all;
  const auto due = at((std::int64_t{1} << 40) + 12345);
  // Each is attached nearer to the time, so on a lower level than those before it.
  for (int level = 0; level < 40; ++level) {
    s.turn_at(due - duration{std::int64_t{1} << (40 - level)});
    s.wheel.attach(all.emplace_back(due, level, &log));
  }
  s.turn_at(due);
  REQUIRE(log.size() == 40);
  for (std::size_t i = 0; i < 40; ++i) CHECK(log[i] == static_cast<int>(i));
}

TEST_CASE("timers that were due before they were attached come before all others, in the order of attach") {
  std::vector<int> log;
  wheel_stand s(at(100));
  test_timer one(at(150), 1, &log), two(at(90), 2, &log), three(at(10), 3, &log), four(at(101), 4, &log);
  for (auto* a : {&one, &two, &three, &four}) s.wheel.attach(*a);
  s.turn_at(at(200));
  CHECK(log == std::vector<int>{2, 3, 4, 1});
}

TEST_CASE("a timer that is attached by a fire never fires in the same turn, and the turn says whether it is due") {
  for (auto due : {at(5), at(10), at(50), at(100), at(101)}) {
    wheel_stand s;
    test_timer inner(due);
    acting_timer outer(at(10), [&] { s.wheel.attach(inner); });
    s.wheel.attach(outer);
    const bool more = s.turn_at(at(100));
    CHECK(inner.fired == 0);
    CHECK(more == (due <= at(100)));
    CHECK((s.wheel.next_expiry() <= at(100)) == more);
    CHECK_FALSE(s.turn_at(at(101)));
    CHECK(inner.fired == 1);
  }
}

TEST_CASE("a timer that attaches itself again and again, always in the past, holds no turn up") {
  wheel_stand s;
  int turns = 0;
  struct restless : detail::timer_node {
    detail::timer_wheel* wheel;
    int* fires;
  } node;
  node.wheel = &s.wheel;
  node.fires = &turns;
  node.when = time_point::min();
  static constexpr detail::timer_kind rings{[](detail::timer_node& self, detail::timer_call) noexcept {
    auto& it = static_cast<restless&>(self);
    if (++*it.fires < 1000) it.wheel->attach(it);
  }};
  node.kind = &rings;
  s.wheel.attach(node);
  for (int i = 1; i <= 1000; ++i) {
    CHECK(s.wheel.advance() == (i < 1000));
    CHECK(turns == i);
  }
}

TEST_CASE("a fire may detach others: of the same time, of the same turn and later ones") {
  wheel_stand s;
  test_timer same(at(10)), next(at(11)), far(at(1'000'000));
  int out = 0;
  acting_timer first(at(10), [&] {
    for (detail::timer_node* node : {static_cast<detail::timer_node*>(&same), static_cast<detail::timer_node*>(&next),
                                     static_cast<detail::timer_node*>(&far)}) {
      out += s.wheel.detach(*node);
    }
  });
  for (detail::timer_node* node : {static_cast<detail::timer_node*>(&first), static_cast<detail::timer_node*>(&same),
                                   static_cast<detail::timer_node*>(&next), static_cast<detail::timer_node*>(&far)}) {
    s.wheel.attach(*node);
  }
  CHECK_FALSE(s.turn_at(at(2'000'000)));
  CHECK(out == 3);
  CHECK(same.fired + next.fired + far.fired == 0);
  CHECK(s.wheel.empty());
}

TEST_CASE("a fire that detaches a timer which has fired in the same turn learns that it was popped") {
  wheel_stand s;
  test_timer before(at(10));
  bool out = true;
  acting_timer after(at(10), [&] { out = s.wheel.detach(before); });
  s.wheel.attach(before);
  s.wheel.attach(after);
  s.turn_at(at(10));
  CHECK(before.fired == 1);
  CHECK_FALSE(out);
}

TEST_CASE("a bounded turn fires no more than was asked, and the next one goes on in order") {
  std::vector<int> log;
  wheel_stand s;
  std::deque<test_timer> all;
  for (int i = 0; i < 100; ++i) s.wheel.attach(all.emplace_back(at(5 + i % 2), i, &log));
  s.time.set(at(6));
  CHECK(s.wheel.advance(0));
  CHECK(log.empty());
  std::size_t turns = 0;
  bool more = true;
  for (; more && turns < 1000; ++turns) {
    const auto before = log.size();
    CHECK(s.wheel.next_expiry() <= at(6));
    more = s.wheel.advance(7);
    CHECK(log.size() - before <= 7);
  }
  REQUIRE(log.size() == 100);
  CHECK(turns <= 2 * 100 / 7 + 2);  // each timer was moved at most once and fired once
  for (std::size_t i = 0; i < 100; ++i) CHECK(log[i] == static_cast<int>(i < 50 ? 2 * i : 2 * (i - 50) + 1));
}

TEST_CASE("what is attached between two parts of a turn keeps its place in the order") {
  std::vector<int> log;
  wheel_stand s;
  std::deque<test_timer> all;
  const auto far = at((1 << 20) + 1000), farther = at((1 << 20) + 1001);
  for (int i = 0; i < 50; ++i) s.wheel.attach(all.emplace_back(far, i, &log));
  for (int i = 50; i < 100; ++i) s.wheel.attach(all.emplace_back(farther, i, &log));
  // The slot that holds them all is opened and only a part of it is spread: it is too full to be looked through.
  CHECK(s.turn_at(far - duration{1}, 30));
  CHECK(log.empty());
  s.wheel.attach(all.emplace_back(farther, 101, &log));
  s.wheel.attach(all.emplace_back(far, 100, &log));
  CHECK(s.wheel.detach(all[99]));
  CHECK(s.wheel.detach(all[0]));
  while (s.turn_at(farther, 30)) {
  }
  std::vector<int> expected;
  for (int i = 1; i < 50; ++i) expected.push_back(i);
  expected.push_back(100);
  for (int i = 50; i < 99; ++i) expected.push_back(i);
  expected.push_back(101);
  CHECK(log == expected);
}

TEST_CASE("the next expiry is the time of the first timer, whatever its level, if its slot is not crowded") {
  for (int k = 0; k < 63; ++k) {
    wheel_stand s;
    const auto due = at((std::int64_t{1} << k) + (std::int64_t{1} << k) / 3);
    test_timer first(due), other(time_point::max());
    s.wheel.attach(other);
    s.wheel.attach(first);
    CHECK(s.wheel.next_expiry() == due);
    CHECK_FALSE(s.turn_at(due - duration{1}));
    CHECK(s.wheel.next_expiry() == due);
    CHECK_FALSE(s.turn_at(due));
    CHECK(first.fired == 1);
    CHECK(s.wheel.next_expiry() == time_point::max());
    CHECK(s.wheel.detach(other));
  }
}

TEST_CASE("the next expiry of a crowd is not after its first timer, and each turn at it comes nearer") {
  wheel_stand s;
  std::deque<test_timer> all;
  const std::int64_t first = 987'654'321'012'345;
  for (std::int64_t i = 0; i < 1000; ++i) s.wheel.attach(all.emplace_back(at(first + i * 3)));
  int turns = 0;
  for (; all.front().fired == 0 && turns < 100; ++turns) {
    const auto next = s.wheel.next_expiry();
    CHECK(next > s.time.now());
    CHECK(next <= at(first));
    s.turn_at(next);
  }
  CHECK(s.time.now() == at(first));
  CHECK(turns <= 11);  // levels
  for (auto& a : all) (void)s.wheel.detach(a);
}

TEST_CASE("a wheel without timers does not ask the clock") {
  struct asked_clock final : hocket::clock_source {
    mutable int asked = 0;
    time_point now() const noexcept override { return ++asked, time_point{}; }
  } time;
  still_home home;
  noted_waker waker;
  detail::timer_wheel wheel(time, home, waker);
  detail::running_scope running({&home}, nullptr);
  const int before = time.asked;
  CHECK_FALSE(wheel.advance());
  CHECK(time.asked == before);
}

TEST_CASE("a clock that goes back, against its promise, counts for as late as it has been, and breaks nothing") {
  struct broken_clock final : hocket::clock_source {
    time_point present{};
    time_point now() const noexcept override { return present; }
  } time;
  still_home home;
  noted_waker waker;
  detail::timer_wheel wheel(time, home, waker);
  detail::running_scope running({&home}, nullptr);
  test_timer far(at(5000)), near(at(1010)), late(at(900));
  wheel.attach(far);
  time.present = at(1000);
  wheel.advance();
  time.present = at(10);
  wheel.attach(near);
  wheel.advance();
  wheel.attach(late);
  wheel.advance();
  CHECK(late.fired == 1);
  CHECK(near.fired == 0);
  time.present = at(1010);
  wheel.advance();
  CHECK(near.fired == 1);
  CHECK(wheel.detach(far));
  CHECK(wheel.next_expiry() == time_point::max());
}

TEST_CASE("a wheel tells how many of its timers have fired, and how late the latest was") {
  wheel_stand s(at(100));
  test_timer past(at(0)), lone(at(1000));
  s.wheel.attach(past);
  s.wheel.attach(lone);
  s.turn_at(at(999));
  CHECK(s.wheel.fired() == 1);
  CHECK(s.wheel.latest() == 0ns);  // it was due when it came
  s.turn_at(at(1030));
  CHECK(s.wheel.fired() == 2);
  CHECK(s.wheel.latest() == 30ns);
  std::deque<test_timer> crowd;
  for (std::size_t i = 0; i < 2 * detail::timer_wheel::crowd; ++i) s.wheel.attach(crowd.emplace_back(at(5000)));
  s.turn_at(at(5007));
  CHECK(s.wheel.fired() == 2 + crowd.size());
  CHECK(s.wheel.latest() == 30ns);
  test_timer detached(at(6000)), last(at(6001));
  s.wheel.attach(detached);
  s.wheel.attach(last);
  CHECK(s.wheel.detach(detached));
  s.turn_at(time_point::max());
  CHECK(s.wheel.fired() == 3 + crowd.size());
  CHECK(s.wheel.latest() == time_point::max() - at(6001));
}

TEST_CASE("a wheel tells the time of its clock") {
  wheel_stand s(at(5));
  CHECK(s.wheel.now() == at(5));
  s.time.advance(duration{2});
  CHECK(s.wheel.now() == at(7));
}

TEST_CASE("misuse of a wheel is fatal") {
  if constexpr (detail::misuse_checks) {
    expect_fatal(
        [] {
          test_timer a(at(10));
          wheel_stand s;
          s.wheel.attach(a);
        },
        "a timer_wheel was destroyed while timers are attached");
  }
  if constexpr (detail::debug_checks) {
    wheel_stand s;
    test_timer a(at(10));
    s.wheel.attach(a);
    expect_fatal([&] { s.wheel.attach(a); }, "a timer was attached twice");
    detail::running_scope outside({nullptr}, nullptr);
    test_timer b(at(10));
    expect_fatal([&] { s.wheel.attach(b); }, "a timer was attached from outside");
    expect_fatal([&] { s.wheel.advance(); }, "a timer_wheel was turned from outside");
    expect_fatal([&] { s.wheel.reclaim(); }, "reclaim() of a timer_wheel was called from outside of its executor");
    detail::running_scope inside({&s.home}, nullptr);
    CHECK(s.wheel.detach(a));
  }
}
