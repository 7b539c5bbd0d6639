// A tick of an interval counts from the time at which its coroutine runs.
#include <hocket/base/clock.hpp>
#include <hocket/core/or_throw.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/interval.hpp>

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

TEST_CASE("a tick with a coroutine that runs late skips the ticks until then, as a late ring does") {
  manual_clock time;
  loop lp({.clock = &time});
  const time_point start = time.now();
  std::vector<duration> ticks;
  auto works = [&]() -> task<> {  // rings first, and takes its time in the turn of the tick
    co_await or_throw(sleep_until(start + 10ms));
    time.advance(35ms);
  };
  auto waits = [&]() -> task<> {
    interval every(start + 10ms, 10ms);
    for (int i = 0; i < 2; ++i) {
      co_await or_throw(every.tick());
      ticks.push_back(time.now() - start);
    }
  };
  spawn(lp, works);
  auto ended = spawn(lp, waits);
  lp.poll();
  time.advance(10ms);
  for (; !ended.done(); time.advance(1ms)) lp.poll();
  CHECK(ticks == std::vector<duration>{45ms, 50ms});
}
