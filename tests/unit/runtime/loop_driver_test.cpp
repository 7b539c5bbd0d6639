// A loop with a driver, tasks on it. Runtimes: runtime_driver_test.cpp; fibers: stackful/driver_fibers_test.cpp.
#include <hocket/core/parker.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "support/frames_stay.hpp"
#include "unit/runtime/reads.hpp"

#include <climits>
#include <doctest/doctest.h>
#include <functional>
#include <poll.h>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> read_all(const wire& from, int& rounds) {
  for (; rounds != 0; --rounds) {
    auto ready = co_await readable(from.fd());
    REQUIRE(ready.has_value());
    REQUIRE(from.take());
  }
}

// Counts its yields until it is told.
task<> yield_until(const bool& over, unsigned& yields) {
  while (!over) {
    ++yields;
    co_await yield();
  }
}

task<> read_and_note(const wire& from, const unsigned& yields, unsigned& at, bool& over) {
  auto ready = co_await readable(from.fd());
  REQUIRE(ready.has_value());
  at = yields;
  over = true;
}

task<> nap(duration time) { static_cast<void>(co_await sleep_for(time)); }

bool is_readable(int fd) {
  pollfd look{fd, POLLIN, 0};
  return ::poll(&look, 1, 0) == 1;
}

}  // namespace

TEST_CASE("what is ready before a loop waits for it, and what becomes so while it sleeps, is seen") {
  readiness_drivers kind;
  loop lp;
  readiness_driver& io = kind.on(lp);
  wire early, late;
  early.send();
  auto first = spawn(lp, read_one, std::cref(early)), second = spawn(lp, read_one, std::cref(late));
  std::thread other([&] {
    while (!io.sleeps()) std::this_thread::yield();
    late.send();
  });
  lp.run();
  other.join();
  CHECK(sync_wait(std::move(first)) == std::error_code{});
  CHECK(sync_wait(std::move(second)) == std::error_code{});
}

TEST_CASE("a loop that is busy sees what is ready within as many turns as its driver says") {
  for (std::uint32_t turns : {1u, 3u, 8u}) {
    for (bool late : {false, true}) {
      CAPTURE(turns);
      readiness_drivers kind(turns);
      loop lp;
      readiness_driver& io = kind.on(lp);
      wire line;
      bool over = false;
      unsigned yields = 0, at = 0;
      auto busy = spawn(lp, yield_until, std::cref(over), std::ref(yields));
      auto reader = spawn(lp, read_and_note, std::cref(line), std::cref(yields), std::ref(at), std::ref(over));
      unsigned sent = 0;
      auto sender = [&]() -> task<> {
        if (late) {
          for (int i = 0; i < 1000; ++i) co_await yield();
        }
        sent = yields;
        line.send();
      };
      spawn(lp, sender);
      lp.run();
      CHECK(at - sent <= (turns + 1) * 64);  // of which the loop resumes 64 in a turn
      // The other way round: no more often than it says.
      CHECK(io.polls() <= yields / 64 * 2 / turns + 3);
    }
  }
}

TEST_CASE("a busy loop whose driver is polled seldom does not see it sooner") {
  readiness_drivers kind(1'000'000);
  loop lp;
  kind.on(lp);
  wire line;
  bool over = false;
  unsigned yields = 0, at = 0;
  spawn(lp, read_and_note, std::cref(line), std::cref(yields), std::ref(at), std::ref(over));
  spawn(lp, yield_until, std::cref(over), std::ref(yields));
  auto stop_it = [&]() -> task<> {
    line.send();
    while (yields < 100'000) co_await yield();
    over = true;
  };
  spawn(lp, stop_it);
  lp.run();
  CHECK(at >= 100'000);
}

TEST_CASE("timers fire while a loop sleeps in its driver, and time-outs take a wait back") {
  readiness_drivers kind;
  loop lp;
  readiness_driver& io = kind.on(lp);
  wire line;
  auto sleeper = spawn(lp, nap, duration(3ms));
  auto reader = spawn(lp, read_within, std::cref(line), duration(2ms));
  lp.run();
  CHECK(sync_wait(std::move(reader)) == std::errc::timed_out);
  CHECK(io.waiting() == 0);
}

TEST_CASE("data that is there beats a deadline that has passed") {
  manual_clock time;
  readiness_drivers kind;
  kind.clock = &time;
  loop lp({.clock = &time});
  wire line;
  auto reader = spawn(lp, read_within, std::cref(line), duration(2ms));
  lp.poll();
  line.send();
  time.advance(5ms);
  lp.poll();
  REQUIRE(reader.done());
  CHECK(sync_wait(std::move(reader)) == std::error_code{});
}

TEST_CASE("more events at once than a driver collects are all told") {
  readiness_drivers kind;
  loop lp;
  std::vector<wire> lines(100);
  std::vector<join_handle<std::error_code>> all;
  for (const wire& one : lines) all.push_back(spawn(lp, read_one, std::cref(one)));
  lp.poll();
  for (const wire& one : lines) one.send();
  lp.run();
  for (auto& one : all) CHECK(sync_wait(std::move(one)) == std::error_code{});
}

TEST_CASE("a driver that returns for no reason is parked again") {
  readiness_drivers kind;
  loop lp;
  readiness_driver& io = kind.on(lp);
  io.returns_for_no_reason = 5;
  wire line;
  auto reader = spawn(lp, read_one, std::cref(line));
  std::thread other([&] {
    while (!io.sleeps()) std::this_thread::yield();
    line.send();
  });
  lp.run();
  other.join();
  CHECK(io.parks() >= 6);
  CHECK(sync_wait(std::move(reader)) == std::error_code{});
}

TEST_CASE("an error of one wait is that wait's result") {
  readiness_drivers kind;
  loop lp;
  auto wait_for_none = []() -> task<std::error_code> {
    auto ready = co_await readable(-1);
    co_return ready ? std::error_code{} : ready.error();
  };
  auto told = spawn(lp, wait_for_none);
  lp.run();
  CHECK(sync_wait(std::move(told)) == std::errc::bad_file_descriptor);
}

TEST_CASE("a loop that ends has no wait left in its driver: cancelled ones are told, killed ones unwind") {
  readiness_drivers kind;
  wire one, other;
  {
    loop lp;
    auto cancelled = spawn(lp, read_one, std::cref(one));
    lp.poll();
    CHECK(kind.waiting() == 1);
    lp.cancel_all();
    lp.run();
    CHECK(sync_wait(std::move(cancelled)) == std::errc::operation_canceled);
  }
  {
    loop lp;
    spawn(lp, read_one, std::cref(other));
    lp.poll();
    CHECK(kind.waiting() == 1);
  }
  CHECK(kind.count() == 0);  // it would have aborted with a wait left
}

TEST_CASE("what was collected for a wait that is over reaches nobody") {
  readiness_drivers kind;
  loop lp;
  readiness_driver& io = kind.on(lp);
  wire line;
  auto first = spawn(lp, read_one, std::cref(line));
  lp.poll();
  line.send();
  CHECK_FALSE(io.park(time_point::min()));  // collects it
  first.cancel();
  auto second = spawn(lp, read_one, std::cref(line));
  lp.run();
  CHECK(sync_wait(std::move(second)) == std::error_code{});
  CHECK(sync_wait(std::move(first)) == std::errc::operation_canceled);
}

TEST_CASE("a closed slot creates no driver: its error is errc::cancelled") {
  readiness_drivers kind;
  futex_parker parker;
  detail::inbox sleeper(parker);
  detail::driver_slot slot({steady_clock(), true}, "the owner", nullptr);
  slot.close();
  const auto [found, error] = slot.get(kind, sleeper);
  CHECK(found == nullptr);
  CHECK(error == errc::cancelled);
  CHECK(kind.creation_attempts == 0);
}

TEST_CASE("a host that watches its guest's parker sees I/O and posts") {
  readiness_drivers kind(8);
  descriptor_parker bell;
  loop lp({.parker = &bell});
  wire line;
  int rounds = 100;
  spawn(lp, read_all, std::cref(line), std::ref(rounds));
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) line.send();
    spawn(lp, nap, duration(0));
  });
  int waits = 0;
  for (; lp.live() != 0; ++waits) {
    const time_point until = lp.begin_sleep();
    pollfd look{bell.descriptor(), POLLIN, 0};
    ::poll(&look, 1, poll_timeout(until, lp.now()));
    lp.end_sleep();
    lp.poll();
  }
  other.join();
  CHECK(rounds == 0);
  CHECK(waits <= 300);  // none in vain, but where a post and a read come apart
}

TEST_CASE("a host does not sleep on what its guest has collected") {
  frames_stay idle;
  readiness_drivers kind(8);
  descriptor_parker bell;
  loop lp({.parker = &bell});
  wire line;
  auto reader = spawn(lp, read_one, std::cref(line));
  lp.poll();
  REQUIRE(lp.begin_sleep() == time_point::max());
  line.send();
  std::thread([&] { spawn(lp, nap, duration(0)); }).join();
  CHECK(is_readable(bell.descriptor()));
  lp.end_sleep();
  CHECK(is_readable(bell.descriptor()));  // the wake is taken, the data is not
  CHECK(lp.begin_sleep() == time_point::min());
  while (lp.poll()) {
  }
  CHECK(reader.done());
}

TEST_CASE("run_for and step see what is ready, too") {
  readiness_drivers kind(8);
  loop lp;
  wire line;
  int rounds = 2;
  spawn(lp, read_all, std::cref(line), std::ref(rounds));
  lp.run_for(0ms);
  line.send();
  lp.run_for(0ms);
  CHECK(rounds == 1);
  line.send();
  lp.step();
  CHECK(rounds == 0);
}
