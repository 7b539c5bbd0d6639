// A timer wheel whose owner is stuck: another thread does for it what need not be done on the owner's. Between threads
// that do so at the same time: tests/model/time.
#include "support/death.hpp"
#include "unit/time/wheel_stand.hpp"

#include <atomic>
#include <deque>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using detail::timer_call;

namespace {

// Where the fences are not asymmetric nobody can help.
bool help_is_possible() {
  detail::prepare_asymmetric_fences();
  return detail::has_asymmetric_fences();
}

// From another thread. How many timers it has fired.
std::size_t assisted(detail::timer_wheel& wheel) {
  std::size_t fired = 0;
  std::thread([&] { fired = wheel.assist(); }).join();
  return fired;
}

void detach_elsewhere(detail::timer_wheel& wheel, test_timer& one) {
  std::thread([&] { CHECK_FALSE(wheel.detach(one)); }).join();
}

}  // namespace

TEST_SUITE_BEGIN("time/wheel assist" * doctest::skip(!help_is_possible()));

TEST_CASE("another thread fires what is due, in the order of the times, and leaves what is not") {
  wheel_stand s;
  std::vector<int> log;
  test_timer late(at(2000), 3, &log), first(at(10), 1, &log), second(at(700), 2, &log);
  for (test_timer* one : {&late, &first, &second}) {
    one->fires_anywhere();
    s.wheel.attach(*one);
  }
  s.time.set(at(1000));
  CHECK(assisted(s.wheel) == 2);
  CHECK(log == std::vector{1, 2});
  CHECK(s.wheel.size() == 1);
  CHECK(s.wheel.fired() == 2);
  CHECK(s.wheel.next_expiry() == at(2000));
  CHECK(assisted(s.wheel) == 0);
  CHECK(s.wheel.detach(late));
  CHECK(s.wheel.empty());
}

TEST_CASE("what was fired by another thread is popped for the owner, and may be attached again") {
  wheel_stand s;
  test_timer one(at(10));
  one.fires_anywhere();
  s.wheel.attach(one);
  s.time.set(at(10));
  CHECK(assisted(s.wheel) == 1);
  CHECK_FALSE(s.wheel.detach(one));
  CHECK_FALSE(s.turn_at(at(20)));
  CHECK(one.fired == 1);
  one.when = at(30);
  s.wheel.attach(one);
  s.turn_at(at(30));
  CHECK(one.fired == 2);
}

TEST_CASE("what must fire on the owner's thread is left to it, before what becomes due later") {
  wheel_stand s;
  std::vector<int> log;
  test_timer own(at(10), 1, &log), other(at(20), 2, &log), own_later(at(2000), 3, &log);
  other.fires_anywhere();
  for (test_timer* one : {&own, &other, &own_later}) s.wheel.attach(*one);
  s.time.set(at(1000));
  CHECK(assisted(s.wheel) == 1);
  CHECK(log == std::vector{2});
  CHECK(s.wheel.next_expiry() <= at(1000));
  s.turn_at(at(3000));
  CHECK(log == std::vector{2, 1, 3});
}

TEST_CASE("what was left to the owner may be detached there") {
  wheel_stand s;
  test_timer own(at(10));
  s.wheel.attach(own);
  s.time.set(at(1000));
  CHECK(assisted(s.wheel) == 0);
  CHECK(s.wheel.detach(own));
  s.turn_at(at(2000));
  CHECK(own.fired == 0);
}

TEST_CASE("timers for a time from now get their time from whoever helps") {
  flowing_stand s;
  test_timer soon, later;
  soon.set_after(duration(10));
  later.set_after(duration(20));
  for (test_timer* one : {&soon, &later}) {
    one->when = time_point::max();
    one->fires_anywhere();
    s.wheel.attach_after(*one);
  }
  s.time.set(at(100));
  CHECK(assisted(s.wheel) == 0);
  s.time.set(at(110));
  CHECK(assisted(s.wheel) == 1);
  CHECK(soon.fired == 1);
  s.turn_at(at(120));
  CHECK(later.fired == 1);
}

TEST_CASE("what a third thread has detached is handed back, and the owner, which was woken, is not woken again") {
  wheel_stand s;
  test_timer first(at(1000)), second(at(1000)), third(at(1000));
  for (test_timer* one : {&first, &second, &third}) {
    one->fires_anywhere();
    s.wheel.attach(*one);
  }
  detach_elsewhere(s.wheel, first);
  CHECK(s.waker.calls() == 1);
  CHECK(assisted(s.wheel) == 1);
  CHECK((first.fired == 1 && first.why == timer_call::given_back));
  detach_elsewhere(s.wheel, second);
  CHECK(s.waker.calls() == 1);
  s.wheel.reclaim();
  CHECK((second.fired == 1 && second.why == timer_call::given_back));
  detach_elsewhere(s.wheel, third);
  CHECK(s.waker.calls() == 2);
  s.wheel.reclaim();
  CHECK(s.wheel.empty());
}

TEST_CASE("what was given back but must fire on the owner's thread is reclaimed by it") {
  wheel_stand s;
  test_timer own[3];
  for (test_timer& one : own) {
    one.when = at(1000);
    s.wheel.attach(one);
    detach_elsewhere(s.wheel, one);
    CHECK(assisted(s.wheel) == 0);
  }
  CHECK(s.waker.calls() == 1);
  s.turn_at(at(2000));
  CHECK(own[0].fired == 0);
  s.wheel.reclaim();
  for (test_timer& one : own) CHECK((one.fired == 1 && one.why == timer_call::given_back));
  CHECK(s.wheel.empty());
}

TEST_CASE("an owner in the middle of its turn is not disturbed") {
  wheel_stand s;
  std::size_t fired = 1;
  acting_timer stuck(at(10), [&] { fired = assisted(s.wheel); });
  test_timer due(at(20));
  due.fires_anywhere();
  s.wheel.attach(stuck);
  s.wheel.attach(due);
  s.turn_at(at(100));
  CHECK(fired == 0);
  CHECK(due.fired == 1);
}

TEST_CASE("a child of a process whose timers are being helped ends by a message, where it would wait for the helper") {
  static std::atomic<bool> asked{false}, may_go{false};
  static constexpr detail::timer_kind slow{&test_timer::note, [](const auto&, const auto&) noexcept {
                                             asked = true;
                                             while (!may_go) std::this_thread::yield();
                                             return true;
                                           }};
  wheel_stand s;
  test_timer due(at(10)), other(at(20));
  due.kind = &slow;
  s.wheel.attach(due);
  s.time.set(at(10));
  std::thread helper([&] { s.wheel.assist(); });
  while (!asked) std::this_thread::yield();
  expect_fatal([&] { s.wheel.attach(other); }, "timers were used in a child of the process that made them");
  may_go = true;
  helper.join();
  CHECK(due.fired == 1);
}

TEST_CASE("any number is fired at once, and more than a turn's bound has left over") {
  constexpr int many = 2000;
  wheel_stand s;
  std::deque<test_timer> all;
  for (int i = 0; i < many; ++i) {
    all.emplace_back(at(1 + i % 7));
    all.back().fires_anywhere();
    s.wheel.attach(all.back());
  }
  CHECK(s.turn_at(at(10), 100));
  CHECK(assisted(s.wheel) == many - 100);
  for (const test_timer& one : all) REQUIRE(one.fired == 1);
  CHECK_FALSE(s.wheel.advance());
  CHECK(s.wheel.empty());
}

TEST_SUITE_END();
