// within() of a task.
#include <hocket/coro/timeout_task.hpp>

#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <doctest/doctest.h>
#include <stdexcept>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Runs a task on a loop whose clock advances only when the loop is idle.
template <class F>
void in_time(F body) {
  manual_clock time;
  loop lp({.clock = &time});
  auto only = spawn(lp, body);
  for (int i = 0; i < 100; ++i) {
    lp.run_for(0ms);
    time.advance(10ms);
  }
  CHECK(lp.live() == 0);
  lp.run_for(0ms);
  sync_wait(only);
}

task<result<int>> sleeps_then_gives(duration time, int number) {
  co_await or_return(sleep_for(time));
  co_return number;
}
task<int> gives_anyway(duration time) { co_return (co_await sleep_for(time)) ? 1 : -1; }

}  // namespace

TEST_CASE("a task that ends in time gives its value, one that does not the error of its wait") {
  in_time([]() -> task<> {
    CHECK((co_await within(50ms, sleeps_then_gives(20ms, 7))).value() == 7);
    CHECK((co_await within(20ms, sleeps_then_gives(1h, 7))).error() == std::errc::timed_out);
    CHECK((co_await within(20ms, gives_anyway(1h))).value() == -1);
    CHECK((co_await within(1h, gives_anyway(20ms))).value() == 1);
    const auto nothing = co_await within(20ms, []() -> task<> { co_await sleep_for(1h); }());
    CHECK(nothing.has_value());
  });
}

TEST_CASE("after a task that was late its caller has its own deadline again") {
  in_time([]() -> task<> {
    CHECK((co_await within(10ms, sleeps_then_gives(1h, 1))).error() == std::errc::timed_out);
    CHECK((co_await sleep_for(50ms)).has_value());
    CHECK(current_context().deadline() == time_point::max());
  });
}

TEST_CASE("of several deadlines the earliest holds") {
  in_time([]() -> task<> {
    auto inner = within(1h, sleeps_then_gives(2h, 1));
    CHECK((co_await within(20ms, std::move(inner))).error() == std::errc::timed_out);
    auto outer = within(20ms, sleeps_then_gives(2h, 1));
    CHECK((co_await within(1h, std::move(outer))).error() == std::errc::timed_out);
    const auto passed = time_point::min();
    CHECK((co_await within(passed, sleeps_then_gives(1ms, 1))).error() == std::errc::timed_out);
  });
}

TEST_CASE("a duration counts from the co_await") {
  in_time([]() -> task<> {
    auto later = within(50ms, sleeps_then_gives(30ms, 5));
    co_await sleep_for(200ms);
    CHECK((co_await std::move(later)).value() == 5);
  });
}

TEST_CASE("exceptions are handed on, and or_return takes what within gives") {
  in_time([]() -> task<> {
    auto throws = []() -> task<int> {
      co_await sleep_for(1ms);
      throw std::runtime_error("no");
    };
    bool caught = false;
    try {
      static_cast<void>(co_await within(1h, throws()));
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
    auto chain = []() -> task<result<int>> {
      co_return 1 + co_await or_return(within(10ms, sleeps_then_gives(1h, 1)));
    };
    CHECK((co_await chain()).error() == std::errc::timed_out);
  });
}

TEST_CASE("what the task starts on a scope has its deadline, too") {
  in_time([]() -> task<> {
    auto with_children = []() -> task<result<bool>> {
      bool late = false;
      auto body = [&](scope& all) -> task<> {
        spawn(all, [&]() -> task<> { late = !(co_await sleep_for(1h)); });
        co_return;
      };
      co_await in_scope(body);
      co_return late;
    };
    CHECK((co_await within(20ms, with_children())).value());
  });
}

TEST_CASE("a cancel and a kill reach the task") {
  in_time([]() -> task<> {
    std::error_code how;
    auto waits = [&]() -> task<> { how = (co_await within(1h, sleeps_then_gives(1h, 1))).error(); };
    auto cancelled = spawn(waits), killed = spawn(waits);
    co_await yield();
    cancelled.cancel();
    co_await sleep_for(1ms);
    CHECK(how == std::errc::operation_canceled);
    how = {};
    killed.kill();
    co_await sleep_for(1ms);
    CHECK_FALSE(how);
  });
}
