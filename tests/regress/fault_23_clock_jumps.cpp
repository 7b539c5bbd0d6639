// Fault 23: clocks that jump. Time is from a clock which never goes back (std::chrono::steady_clock, or the program's,
// which refuses to: tests/unit/base/clock_test.cpp), so setting the date changes nothing. The clock may stop, and it
// may jump ahead, as when a machine was suspended: then the waits that were due meanwhile end, in their order, and the
// others continue.
#include <hocket/base/clock.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/interval.hpp>
#include <hocket/time/sleep.hpp>

#include "support/runtime_look.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

static_assert(std::chrono::steady_clock::is_steady);
static_assert(std::is_same_v<time_point::clock, std::chrono::steady_clock>);

TEST_CASE("fault 23: a loop whose clock jumps wakes in order what was due, once, and nothing else") {
  manual_clock time(time_point(1h));
  loop lp({.clock = &time});
  std::vector<int> order;
  auto sleeps = [&](int n, duration by) -> task<> {
    auto slept = co_await sleep_for(by);
    if (slept) order.push_back(n);
  };
  auto ticks = [&]() -> task<> {
    interval every(1h);
    for (;;) {
      auto tick = co_await every.tick();
      if (!tick) co_return;
      order.push_back(0);
    }
  };
  static_cast<void>(spawn(lp, sleeps, 4, 24h * 3650));
  static_cast<void>(spawn(lp, sleeps, 3, 24h * 30));
  static_cast<void>(spawn(lp, sleeps, 1, 1ns));
  static_cast<void>(spawn(lp, sleeps, 2, 10ms));
  static_cast<void>(spawn(lp, ticks));
  lp.run();
  CHECK(order.empty());
  time.advance(24h * 365);
  lp.run();
  CHECK(order == std::vector{1, 2, 0, 3});  // of the ticks that were missed one is made up for
  lp.run();
  CHECK(order.size() == 4);
  CHECK(lp.live() == 2);
}

TEST_CASE("fault 23: the workers of a runtime whose clock jumps wake what was due, once, and nothing else") {
  for (const std::size_t workers : {1u, 2u, 8u}) {
    CAPTURE(workers);
    manual_clock time(time_point(1h));
    std::atomic<int> due{0}, early{0};
    hocket::runtime rt({.workers = workers, .clock = &time});
    auto sleeps = [&](duration by, std::atomic<int>& count) -> task<> {
      auto slept = co_await sleep_for(by);
      if (slept) ++count;
    };
    for (int i = 0; i < 500; ++i) {
      static_cast<void>(spawn(rt, sleeps, 1ms * (i + 1), std::ref(due)));
      static_cast<void>(spawn(rt, sleeps, 24h * 366 + 1ms * i, std::ref(early)));
    }
    detail::runtime_look::wait_until_asleep(rt);
    rt.clock_moved();  // it has not
    detail::runtime_look::wait_until_asleep(rt);
    CHECK(due == 0);
    time.advance(24h * 365);
    rt.clock_moved();
    detail::runtime_look::wait_until_asleep(rt);
    CHECK(due == 500);
    CHECK(early == 0);
    CHECK(rt.live() == 500);
  }
}
