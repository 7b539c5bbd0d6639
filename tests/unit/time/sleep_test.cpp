// Sleeps and intervals where the clock is the machine's, on the timer wheel, and from other threads. What they mean for
// each kind is in tests/suites/sleep.hpp.
#include <hocket/core/sync_wait.hpp>
#include <hocket/time/interval.hpp>
#include <hocket/time/seam/timer_wheel.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"
#include "unit/time/wheel_stand.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// A home of sleepers: a queue that is stepped by hand, and a wheel.
struct wheel_home final : executor {
  manual_clock time{at(1'000'000'000)};
  noted_waker waker;
  stepped_executor ready;
  detail::timer_wheel wheel{time, *this, waker};

  void post_from_outside(detail::runnable& work) noexcept override { ready.post_from_outside(work); }
  detail::timer_service* timers() noexcept override { return &wheel; }
  void step() {
    detail::running_scope running({this}, nullptr);
    if (waker.take()) wheel.reclaim();
    wheel.advance();
    while (detail::runnable* work = ready.take()) {
      detail::this_thread().ctx = detail::header_of(work->handle).ctx;
      work->handle.resume();
    }
  }
  void pass(duration by) {
    time.advance(by);
    step();
  }
};

script sleep_once(duration by, duration slack, std::error_code& error) {
  auto slept = co_await sleep_for(by, slack);
  error = slept ? std::error_code{} : slept.error();
}

}  // namespace

TEST_CASE("a thread sleeps for a while, and until a time") {
  const time_point start = steady_clock().now();
  CHECK(sync_wait(sleep_for(2ms)).has_value());
  CHECK(sync_wait(sleep_until(start + 4ms)).has_value());
  CHECK(steady_clock().now() >= start + 4ms);
  CHECK(sync_wait(within(1ms, sleep_for(1h))).error() == std::errc::timed_out);
  CHECK(sync_wait(sleep_until(start)).has_value());
}

TEST_CASE("a thread waits for the ticks of an interval") {
  const time_point start = steady_clock().now();
  interval every(start + 1ms, 1ms, missed_ticks::burst);
  for (int i = 0; i < 4; ++i) CHECK(sync_wait(every.tick()).has_value());
  CHECK(steady_clock().now() >= start + 4ms);
}

TEST_CASE("sleeps of one slack need one turn of the wheel") {
  wheel_home home;
  std::error_code errors[3];
  script all[] = {sleep_once(1ms, 10ms, errors[0]), sleep_once(5ms, 10ms, errors[1]), sleep_once(9ms, 10ms, errors[2])};
  for (script& one : all) one.start(home);
  home.step();
  {
    detail::running_scope running({&home}, nullptr);
    CHECK(home.wheel.size() == 3);
    CHECK(home.wheel.next_expiry() == at(1'010'000'000));
  }
  home.pass(10ms);
  for (script& one : all) CHECK(one.done());
}

TEST_CASE("a sleep that is ended from another thread lets go of its timer on its own") {
  wheel_home home;
  stop_source stop;
  context_ptr ctx = context::child_of(context::root(), {.stop = &stop});
  std::error_code error;
  script one = sleep_once(1h, 0s, error);
  one.start(home, ctx.get());
  home.step();
  stop.request(stop_level::cancel);  // from outside of the home, which is what another thread is
  CHECK_FALSE(one.done());
  home.step();
  CHECK(one.done());
  CHECK(error == std::errc::operation_canceled);
  detail::running_scope running({&home}, nullptr);
  CHECK(home.wheel.empty());
}

TEST_CASE("a sleep on an executor without timers is fatal") {
  auto sleep = [] {
    stepped_executor without;
    std::error_code error;
    script one = sleep_once(1s, 0s, error);
    one.start(without);
    without.run();
  };
  expect_fatal(sleep, "its executor has no timers");
}

TEST_CASE("an interval without a period says so at each tick") {
  interval none(0s), backward(steady_clock().now() + 1h, -1ms);
  CHECK(sync_wait(none.tick()).error() == std::errc::invalid_argument);
  CHECK(sync_wait(none.tick()).error() == std::errc::invalid_argument);
  CHECK(sync_wait(backward.tick()).error() == std::errc::invalid_argument);
}
