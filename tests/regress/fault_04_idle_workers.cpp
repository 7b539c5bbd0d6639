// Fault 4: workers that have nothing to do burn time. When all sleep nobody looks after them, so no sleep has an end
// but that of a timer; and so no worker makes a turn.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/runtime_look.hpp"

#include <doctest/doctest.h>

using namespace hocket;

namespace {

task<int> gives(int n) { co_return n; }

}  // namespace

TEST_CASE("fault 4: when all workers have slept for a while, nobody looks after them") {
  hocket::runtime rt({.workers = 3});
  CHECK(sync_wait(spawn(rt, gives, 1)) == 1);
  detail::runtime_look::wait_until_asleep(rt);
  while (!detail::runtime_look::watch_rests(rt)) std::this_thread::yield();
  CHECK(sync_wait(spawn(rt, gives, 2)) == 2);
}

TEST_CASE("fault 4: workers that sleep make no turns while others work") {
  manual_clock still;  // by which no time passes in which anything could decay
  hocket::runtime idle({.workers = 4, .clock = &still});
  hocket::runtime busy({.workers = 2});
  CHECK(sync_wait(spawn(idle, gives, 1)) == 1);
  detail::runtime_look::wait_until_asleep(idle);
  const std::size_t before = idle.counts().turns;
  for (int i = 0; i < 10'000; ++i) REQUIRE(sync_wait(spawn(busy, gives, i)) == i);
  CHECK(idle.counts().turns == before);
}
