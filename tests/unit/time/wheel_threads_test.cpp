// A timer wheel and threads that are not its owner's, one after the other. As a race: tests/stress/time_detach.cpp, and
// under every schedule: tests/model/time.
#include "unit/time/wheel_stand.hpp"

#include <deque>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

// Detaches on a thread that is not the owner's.
bool detach_elsewhere(detail::timer_wheel& wheel, detail::timer_node& node) {
  bool out = true;
  std::thread other([&] { out = wheel.detach(node); });
  other.join();
  return out;
}

}  // namespace

TEST_CASE("what another thread detaches fires when it is reclaimed, before its time, and frees its node then") {
  wheel_stand s;
  test_timer a(at(1000));
  s.wheel.attach(a);
  CHECK_FALSE(detach_elsewhere(s.wheel, a));
  CHECK(s.waker.take());
  CHECK(a.fired == 0);
  CHECK(s.wheel.size() == 1);
  s.wheel.reclaim();
  CHECK(a.fired == 1);
  CHECK(a.why == detail::timer_call::given_back);
  CHECK(s.wheel.empty());
  test_timer later(at(1'000'000));
  s.wheel.attach(later);
  CHECK(s.wheel.next_expiry() == at(1'000'000));
  CHECK_FALSE(s.turn_at(at(1'000'000)));
  CHECK(a.fired == 1);
  CHECK(later.fired == 1);
  CHECK(later.why == detail::timer_call::due);
}

TEST_CASE("what another thread detaches and was due before it is reclaimed fires once, when it is reclaimed") {
  wheel_stand s;
  test_timer a(at(10)), b(at(10));
  s.wheel.attach(a);
  s.wheel.attach(b);
  CHECK_FALSE(detach_elsewhere(s.wheel, a));
  s.turn_at(at(10));
  CHECK(a.fired == 0);
  CHECK(b.fired == 1);
  CHECK(b.why == detail::timer_call::due);
  s.wheel.reclaim();
  CHECK(a.fired == 1);
  CHECK(a.why == detail::timer_call::given_back);
  CHECK(s.wheel.empty());
}

TEST_CASE("another thread that detaches what has fired changes nothing") {
  wheel_stand s;
  test_timer a(at(10));
  s.wheel.attach(a);
  s.turn_at(at(10));
  CHECK_FALSE(detach_elsewhere(s.wheel, a));
  CHECK_FALSE(s.waker.take());
  CHECK(a.fired == 1);
}

TEST_CASE(
    "the waker is called once for what was detached since it was answered, and all fires in the order of detach") {
  std::vector<int> log;
  wheel_stand s;
  std::deque<test_timer> all;
  for (int i = 0; i < 5; ++i) s.wheel.attach(all.emplace_back(at(100 - i), i, &log));
  for (auto& a : all) {
    if (a.number != 3) CHECK_FALSE(detach_elsewhere(s.wheel, a));
  }
  CHECK(s.waker.calls() == 1);
  s.wheel.reclaim();
  CHECK(log == std::vector<int>{0, 1, 2, 4});
  CHECK_FALSE(detach_elsewhere(s.wheel, all[3]));
  CHECK(s.waker.calls() == 2);
  s.wheel.reclaim();
  CHECK(log.size() == 5);
}

TEST_CASE("the owner's thread counts as another one while it runs on another executor") {
  wheel_stand s;
  test_timer a(at(10));
  s.wheel.attach(a);
  {
    still_home elsewhere;
    detail::running_scope outside({&elsewhere}, nullptr);
    CHECK_FALSE(s.wheel.detach(a));
  }
  CHECK(s.waker.take());
  s.wheel.reclaim();
  CHECK(a.fired == 1);
}

TEST_CASE("a wheel may move to another thread between turns") {
  wheel_stand s;
  test_timer a(at(10)), b(at(20));
  s.wheel.attach(a);
  s.wheel.attach(b);
  std::thread other([&] {
    detail::running_scope running({&s.home}, nullptr);
    s.turn_at(at(10));
    CHECK(s.wheel.detach(b));
    b.when = at(15);
    s.wheel.attach(b);
  });
  other.join();
  CHECK(a.fired == 1);
  s.turn_at(at(15));
  CHECK(b.fired == 1);
}
