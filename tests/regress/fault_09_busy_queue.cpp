// Fault 9: a ready queue that never gets empty starves the timers, and what other threads bring. A thousand tasks yield
// without end, of which one moves the clock: whoever was due then runs before any of them has run twice more. (Work
// that holds its worker: fault 8, tests/unit/runtime/runtime_test.cpp, runtime/stackful/runtime_fibers_test.cpp.)
#include <hocket/base/clock.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>

#include <atomic>
#include <doctest/doctest.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr int busy_tasks = 1'000;

struct storm {
  manual_clock time;
  std::atomic<long> yields{0};
  std::atomic<long> due_since{0}, woken_after{0};
  std::atomic<bool> sleeping{false}, over{false};

  task<> busy() {
    while (!over.load()) {
      ++yields;
      co_await yield();
    }
  }
  task<> sleeps() {
    sleeping = true;
    auto slept = co_await sleep_for(10ms);
    CHECK(slept.has_value());
    woken_after = yields - due_since;
    over = true;
  }
  task<> moves_the_clock() {
    while (!sleeping.load() || yields < 20 * busy_tasks) co_await yield();
    due_since = yields.load();
    time.advance(10ms);
  }
};

auto begin(storm& in, auto& where) {
  for (int i = 0; i < busy_tasks; ++i) static_cast<void>(spawn(where, &storm::busy, &in));
  static_cast<void>(spawn(where, &storm::moves_the_clock, &in));
  return spawn(where, &storm::sleeps, &in);
}

}  // namespace

TEST_CASE("fault 9: a timer that is due fires within the turn in which the clock is looked at next") {
  storm in;
  SUBCASE("on a loop") {
    loop lp({.time = &in.time});
    auto sleeper = begin(in, lp);
    lp.run_until(sleeper);
  }
  SUBCASE("on a runtime") {
    hocket::runtime rt({.workers = 1, .time = &in.time});
    auto sleeper = begin(in, rt);
    sync_wait(std::move(sleeper));
  }
  CHECK(in.woken_after <= 2 * busy_tasks);
}

TEST_CASE("fault 9: what another thread spawns runs beside a storm of yields") {
  storm in;
  hocket::runtime rt({.workers = 2, .time = &in.time});
  for (int i = 0; i < busy_tasks; ++i) static_cast<void>(spawn(rt, &storm::busy, &in));
  auto gives = [](int n) -> task<int> { co_return n; };
  for (int i = 0; i < 100; ++i) CHECK(sync_wait(spawn(rt, gives, i)) == i);
  in.over = true;
}
