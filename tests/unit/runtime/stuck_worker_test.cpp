// What goes on elsewhere beside a worker that is stuck in a coroutine.
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "unit/runtime/stuck_worker.hpp"
#include "unit/runtime/wire.hpp"

#include <functional>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> reads(const wire& from, std::atomic<int>& served) {
  REQUIRE((co_await readable(from.fd())).has_value());
  REQUIRE(from.take());
  ++served;
}

task<> reads_in_time(const wire& from, std::atomic<int>& served) {
  REQUIRE((co_await within(30s, readable(from.fd()))).has_value());
  ++served;
}

task<> times_out(const wire& from, std::atomic<int>& served) {
  REQUIRE((co_await within(5ms, readable(from.fd()))).error() == std::errc::timed_out);
  ++served;
}

task<> sleeps(duration time, std::atomic<int>& served) {
  auto slept = co_await sleep_for(time);
  if (slept) ++served;
}

task<> waits(event& of, std::atomic<int>& served) {
  REQUIRE((co_await within(30s, of.wait())).has_value());
  ++served;
}

task<> runs(std::atomic<int>& served) {
  ++served;
  co_return;
}

bool timers_are_taken_over() { return detail::has_asymmetric_fences(); }

}  // namespace

TEST_SUITE_BEGIN("runtime/stuck worker");

TEST_CASE("tasks that wait for I/O at a worker that is stuck go on elsewhere") {
  constexpr int readers = 5;
  std::vector<wire> lines(readers);
  stuck_worker on;
  std::vector<join_handle<>> all;
  for (const wire& one : lines) all.push_back(spawn(on.place, reads, std::cref(one), std::ref(on.served)));
  CHECK(on.holds_until(readers, [&] {
    for (const wire& one : lines) one.send();
  }));
  for (auto& one : all) sync_wait(std::move(one));
  CHECK(on.io[0].assists() != 0);
  CHECK(on.rt.counts(0).assists != 0);
}

TEST_CASE("a task that waits for I/O under a deadline goes on elsewhere, though its alarm is with the stuck worker") {
  wire line;
  stuck_worker on;
  if (!timers_are_taken_over()) return;
  auto reader = spawn(on.place, reads_in_time, std::cref(line), std::ref(on.served));
  CHECK(on.holds_until(1, [&] { line.send(); }));
  sync_wait(std::move(reader));
}

TEST_CASE("sleeps and deadlines that end while their worker is stuck are served elsewhere") {
  wire line;
  stuck_worker on;
  if (!timers_are_taken_over()) return;
  std::vector<join_handle<>> all;
  for (int i = 1; i <= 100; ++i) all.push_back(spawn(on.place, sleeps, i * 10us, std::ref(on.served)));
  all.push_back(spawn(on.place, times_out, std::cref(line), std::ref(on.served)));
  auto later = spawn(on.place, sleeps, 1h, std::ref(on.served));
  CHECK(on.holds_until(101, [&] { on.time.advance(5ms); }));
  for (auto& one : all) sync_wait(std::move(one));
  later.cancel();
  sync_wait(std::move(later));
  CHECK(on.served == 101);
}

TEST_CASE("a wait under a deadline that another thread grants goes on elsewhere") {
  event ready;
  stuck_worker on;
  if (!timers_are_taken_over()) return;
  auto waiter = spawn(on.place, waits, std::ref(ready), std::ref(on.served));
  CHECK(on.holds_until(1, [&] { ready.set(); }));
  sync_wait(std::move(waiter));
}

TEST_CASE("even one task that is ready at a worker that gets stuck runs elsewhere") {
  stuck_worker on;
  auto spawns_and_holds = [&]() -> task<bool> {
    spawn(runs, std::ref(on.served));
    const auto begun = std::chrono::steady_clock::now();
    while (on.served == 0 && std::chrono::steady_clock::now() - begun < 10s) std::this_thread::yield();
    co_return on.served != 0;
  };
  CHECK(sync_wait(spawn(on.place, spawns_and_holds)));
}

TEST_CASE("a sleep under a deadline is served as soon as one without") {
  stuck_worker on;
  if (!timers_are_taken_over()) return;
  auto sleeper = spawn(on.place, {.within = 1h}, sleeps, 5ms, std::ref(on.served));
  CHECK(on.holds_until(1, [&] { on.time.advance(5ms); }));
  sync_wait(std::move(sleeper));
}

TEST_CASE(
    "a worker counts as stuck when it is in the same turn at two looks in a row, and is helped at each from then") {
  wire line;
  stuck_worker on;
  auto reader = spawn(on.place, reads, std::cref(line), std::ref(on.served));
  CHECK(on.holds_until(1, [&] {
    for (int i = 0; i < 2; ++i) detail::runtime_look::watch(on.rt);
    const std::size_t before = on.rt.counts(0).assists;
    CHECK(before != 0);
    line.send();
    detail::runtime_look::watch(on.rt);
    CHECK(on.rt.counts(0).assists > before);
    CHECK(on.io[0].waiting() == 0);
  }));
  sync_wait(std::move(reader));
}

TEST_CASE("a worker that was stuck and takes turns again does not count as stuck") {
  stuck_worker stage;
  const auto steal_threshold = [&] { return detail::runtime_look::at(stage.rt, 0).steal_threshold(); };
  const auto watch_twice = [&] {
    for (int i = 0; i < 2; ++i) detail::runtime_look::watch(stage.rt);
  };
  CHECK(steal_threshold() == 2);
  std::atomic<std::size_t> while_stuck{0};
  auto holds = [&]() -> task<> {
    watch_twice();
    while_stuck = steal_threshold();
    co_return;
  };
  CHECK(sync_wait(spawn(stage.place, holds).join()).has_value());
  CHECK(while_stuck == 1);
  detail::runtime_look::wait_until_asleep(stage.rt);
  watch_twice();
  CHECK(steal_threshold() == 2);
}

TEST_CASE("a worker that has just woken from a sleep does not count as stuck") {
  stuck_worker on;
  for (int i = 0; i < 100; ++i) {
    detail::runtime_look::wait_until_asleep(on.rt);
    detail::runtime_look::watch(on.rt);
    const std::size_t before = on.rt.counts().assists;
    spawn(on.rt, runs, std::ref(on.served));
    detail::runtime_look::watch(on.rt);
    CHECK(on.rt.counts().assists == before);
  }
}

TEST_SUITE_END();
