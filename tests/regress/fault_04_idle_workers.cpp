// Fault 4: workers that have nothing to do burn time. When all sleep nobody watches, so no sleep has an end but that of
// a timer; and so no worker makes a turn, but for one that still watched when the last one fell asleep.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/runtime_look.hpp"

#include <doctest/doctest.h>

using namespace hocket;

namespace {

task<int> gives(int n) { co_return n; }

}  // namespace

TEST_CASE("fault 4: of the workers that sleep one watches, until all sleep") {
  hocket::runtime rt({.workers = 3});
  auto worker_at = [&](std::size_t index) -> detail::worker& { return detail::runtime_look::at(rt, index); };
  detail::idle_workers idle(3);
  CHECK(idle.begin_sleep(worker_at(0), false).watches);
  CHECK_FALSE(idle.begin_sleep(worker_at(1), false).watches);
  CHECK_FALSE(idle.begin_sleep(worker_at(2), false).watches);
  CHECK_FALSE(idle.end_sleep(worker_at(0), true));
  CHECK_FALSE(idle.begin_sleep(worker_at(0), false).watches);
}

TEST_CASE("fault 4: workers that sleep make no turns while others work") {
  manual_clock still;  // by which no time passes in which anything could decay
  hocket::runtime idle({.workers = 4, .time = &still});
  hocket::runtime busy({.workers = 2});
  CHECK(sync_wait(spawn(idle, gives, 1)) == 1);
  detail::runtime_look::wait_until_asleep(idle);
  const std::size_t before = idle.counts().turns;
  for (int i = 0; i < 10'000; ++i) REQUIRE(sync_wait(spawn(busy, gives, i)) == i);
  CHECK(idle.counts().turns - before <= 1);
}
