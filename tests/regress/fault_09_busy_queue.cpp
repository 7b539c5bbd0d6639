// Fault 9: a ready queue that never gets empty starves the timers, and what other threads bring. A thousand tasks yield
// without end, of which one moves the clock: whoever was due then runs before any of them has run twice more. So does
// one who never suspends, because there is always an item to receive: it lets others run after 256 operations (the
// budget of core/operation.hpp), and a kill reaches it. (Work that holds its worker: fault 8,
// tests/unit/runtime/runtime_test.cpp, runtime/stackful/runtime_fibers_test.cpp.)
#include <hocket/base/clock.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/channel.hpp>
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

// One that sends and receives, and never has to wait.
struct flood {
  static constexpr long budget = 256, turn = 64;
  manual_clock time;
  channel<int> items{1};
  std::atomic<long> operations{0};
  long due_since = 0, woken_after = 0;
  bool over = false;

  task<> flows(long most) {
    while (!over && operations < most) {
      auto sent = co_await items.send(1);
      auto got = co_await items.receive();
      if (!sent || !got) co_return;
      operations += 2;
      if (operations != 10 * budget) continue;
      due_since = operations;
      time.advance(10ms);
    }
  }
  task<> sleeps() {
    auto slept = co_await sleep_for(10ms);
    CHECK(slept.has_value());
    woken_after = operations - due_since;
    over = true;
  }
};

}  // namespace

TEST_CASE("fault 9: a timer that is due fires beside one that never has to wait") {
  constexpr long enough = 100 * flood::turn * flood::budget;
  flood in;
  SUBCASE("on a loop") {
    loop lp({.time = &in.time});
    auto sleeper = spawn(lp, &flood::sleeps, &in);
    static_cast<void>(spawn(lp, &flood::flows, &in, enough));
    lp.run_until(sleeper);
  }
  SUBCASE("on a runtime") {
    hocket::runtime rt({.workers = 1, .time = &in.time});
    auto both = [&]() -> task<> {
      auto sleeper = spawn(rt, &flood::sleeps, &in);
      static_cast<void>(spawn(rt, &flood::flows, &in, enough));
      co_await sleeper;
    };
    sync_wait(spawn(rt, both));
  }
  CHECK(in.due_since != 0);
  CHECK(in.woken_after <= 2 * flood::turn * flood::budget);
}

TEST_CASE("fault 9: a kill from outside ends one that never has to wait") {
  flood in;
  hocket::runtime rt({.workers = 1, .time = &in.time});
  auto victim = spawn(rt, &flood::flows, &in, 200'000'000l);
  auto gives = [](int n) -> task<int> { co_return n; };
  for (int i = 0; i < 100; ++i) CHECK(sync_wait(spawn(rt, gives, i)) == i);
  victim.kill();
  auto ended = sync_wait(victim.join());
  REQUIRE_FALSE(ended.has_value());
  CHECK(ended.error() == std::errc::operation_canceled);
}

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
