// A runtime whose workers have drivers, tasks on it.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "unit/runtime/dump_table.hpp"
#include "unit/runtime/reads.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t worker_counts[] = {1, 2, 4};

task<> read_rounds(const wire& from, std::atomic<int>& rounds) {
  for (; rounds != 0; --rounds) {
    auto ready = co_await readable(from.fd());
    REQUIRE(ready.has_value());
    REQUIRE(from.take());
  }
}

task<> answer(const wire& from, const wire& to, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    auto ready = co_await readable(from.fd());
    REQUIRE(ready.has_value());
    REQUIRE(from.take());
    to.send();
  }
}

task<int> twice(int n) {
  co_await yield();
  co_return 2 * n;
}

task<> nap(duration time) { static_cast<void>(co_await sleep_for(time)); }

std::size_t waiting(const readiness_drivers& of) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < of.count(); ++i) count += of[i].waiting();
  return count;
}

bool all_sleep(const readiness_drivers& of) {
  for (std::size_t i = 0; i < of.count(); ++i) {
    if (!of[i].sleeps()) return false;
  }
  return true;
}

// And nobody watches.
bool both_sleep(const readiness_drivers& of) {
  return of[0].sleeps_until(time_point::max()) && of[1].sleeps_until(time_point::max());
}

// They end: one writes at first, then each when it has read.
void run_pairs(hocket::runtime& rt, int pairs, int rounds) {
  std::vector<wire> lines(static_cast<std::size_t>(2 * pairs));
  std::vector<join_handle<>> all;
  for (std::size_t i = 0; i < lines.size(); i += 2) {
    all.push_back(spawn(rt, answer, std::cref(lines[i]), std::cref(lines[i + 1]), rounds));
    all.push_back(spawn(rt, answer, std::cref(lines[i + 1]), std::cref(lines[i]), rounds));
    lines[i].send();
  }
  for (auto& one : all) sync_wait(std::move(one));
}

}  // namespace

TEST_CASE("tasks of a runtime talk through descriptors, while it sleeps and while it is busy") {
  for (std::size_t workers : worker_counts) {
    for (std::uint32_t turns : {1u, 8u}) {
      CAPTURE(workers);
      readiness_drivers io(turns);
      hocket::runtime rt({.workers = workers});
      io.on(rt);
      CHECK(io.count() == workers);
      run_pairs(rt, 1, 300);
      run_pairs(rt, 20, 50);
      std::atomic<bool> over{false};
      auto busy = [&]() -> task<> {
        while (!over) co_await yield();
      };
      std::vector<join_handle<>> all;
      for (int i = 0; i < 10; ++i) all.push_back(spawn(rt, busy));
      run_pairs(rt, 5, 50);
      over = true;
      for (auto& one : all) sync_wait(std::move(one));
    }
  }
}

TEST_CASE("a busy worker sees what is ready within as many turns as its driver says") {
  for (std::uint32_t turns : {1u, 3u, 8u}) {
    for (int others : {0, 500}) {
      CAPTURE(turns);
      CAPTURE(others);
      wire line;
      std::size_t sent = 0, seen = 0;
      bool over = false;
      readiness_drivers io(turns);
      hocket::runtime rt({.workers = 1});
      io.on(rt);
      auto busy = [&]() -> task<> {
        while (!over) co_await yield();
      };
      auto reader = [&]() -> task<> {
        auto ready = co_await readable(line.fd());
        REQUIRE(ready.has_value());
        seen = rt.counts(0).turns;
        over = true;
      };
      auto sender = [&]() -> task<> {
        for (int i = 0; i < 300; ++i) co_await yield();
        sent = rt.counts(0).turns;
        line.send();
      };
      auto all = [&]() -> task<> {
        auto reading = spawn(reader);
        for (int i = 0; i < others + 1; ++i) spawn(busy);
        auto sending = spawn(sender);
        co_await std::move(sending);
        co_await std::move(reading);
      };
      sync_wait(spawn(rt, all));
      // And behind what was ready before: 64 in a turn.
      CHECK(seen - sent <= turns + static_cast<std::size_t>(others + 3) / 64 + 1);
      const unsigned polls = io[0].polls();
      CHECK(polls <= rt.counts(0).turns / turns + io[0].parks() + 1);
    }
  }
}

TEST_CASE("a worker that sleeps in its driver is woken by each spawn from outside, and by timers") {  // FAULTS 1, 3
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    readiness_drivers io;
    hocket::runtime rt({.workers = workers});
    io.on(rt);
    for (int i = 0; i < 1000; ++i) REQUIRE(sync_wait(spawn(rt, twice, i)) == 2 * i);
    wire line;
    auto late = spawn(rt, read_within, std::cref(line), duration(2ms));
    sync_wait(spawn(rt, nap, duration(3ms)));
    CHECK(sync_wait(std::move(late)) == std::errc::timed_out);
    CHECK(waiting(io) == 0);
  }
}

TEST_CASE("a clock of one's own that has moved is looked at by workers that sleep in their drivers") {
  manual_clock time;
  readiness_drivers io;
  hocket::runtime rt({.workers = 2, .clock = &time});
  io.on(rt);
  std::atomic<bool> begun{false};
  auto sleeper = spawn(rt, [&begun]() -> task<> {
    begun = true;
    static_cast<void>(co_await sleep_for(5ms));
  });
  while (!begun || !all_sleep(io)) std::this_thread::yield();
  time.advance(5ms);
  rt.clock_moved();
  sync_wait(std::move(sleeper));
}

TEST_CASE("a worker to which its driver brings more than it can run at once has others woken") {
  std::vector<wire> lines(20);
  readiness_drivers io;
  hocket::runtime rt({.workers = 2});
  io.on(rt);
  std::atomic<bool> held{false}, free{false};
  std::atomic<int> here{0};
  auto hold = [&]() -> task<> {
    held = true;
    while (!free) std::this_thread::yield();
    co_return;
  };
  // Two of them must run at the same time.
  auto meet = [&](const wire& from) -> task<> {
    auto ready = co_await readable(from.fd());
    REQUIRE(ready.has_value());
    ++here;
    while (here < 2) std::this_thread::yield();
  };
  auto holder = spawn(rt, hold);
  while (!held) std::this_thread::yield();
  std::vector<join_handle<>> all;
  for (const wire& one : lines) all.push_back(spawn(rt, meet, std::cref(one)));
  while (waiting(io) != lines.size()) std::this_thread::yield();
  CHECK((io[0].waiting() == 0 || io[1].waiting() == 0));
  free = true;
  sync_wait(std::move(holder));
  for (std::size_t i = 0; i < 2; ++i) io[i].returns_with = 4;  // a single event would hold its worker
  while (!both_sleep(io)) std::this_thread::yield();
  for (const wire& one : lines) one.send();
  for (auto& one : all) sync_wait(std::move(one));
}

// A worker that the system has preempted in the middle of a turn is late, and offers the rest of the turn. Hence most
// rounds, and not all.
TEST_CASE("a worker that runs alone what its driver brings has nobody woken for it") {
  wire line;
  readiness_drivers io;
  hocket::runtime rt({.workers = 2});
  io.on(rt);
  std::atomic<int> rounds{100};
  auto reader = spawn(rt, read_rounds, std::cref(line), std::ref(rounds));
  while (waiting(io) == 0 || !both_sleep(io)) std::this_thread::yield();
  const readiness_driver& other = io[0].waiting() == 0 ? io[0] : io[1];
  unsigned alone = 0;
  for (int left = 99; left != 0; --left) {
    const unsigned parks = other.parks();
    line.send();
    while (rounds != left || waiting(io) == 0 || !both_sleep(io)) std::this_thread::yield();
    alone += other.parks() == parks;
  }
  CHECK(alone > 50);
  line.send();
  sync_wait(std::move(reader));
}

TEST_CASE("a wait in the driver of one worker is ended from anywhere: cancelled, killed, shut down") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    std::vector<wire> lines(30);
    readiness_drivers io;
    hocket::runtime rt({.workers = workers});
    io.on(rt);
    std::vector<join_handle<std::error_code>> all;
    const auto begin = [&] {
      all.clear();
      for (const wire& one : lines) all.push_back(spawn(rt, read_one, std::cref(one)));
      while (waiting(io) != lines.size()) std::this_thread::yield();
    };
    begin();
    for (auto& one : all) one.cancel();
    for (auto& one : all) CHECK(sync_wait(std::move(one)) == std::errc::operation_canceled);
    begin();
    for (std::size_t i = 0; i < lines.size(); ++i) {  // at the same time as the event of its wait
      lines[i].send();
      all[i].kill();
    }
    while (rt.live() != 0) std::this_thread::yield();
    CHECK(waiting(io) == 0);
    for (const wire& one : lines) static_cast<void>(one.take());
    begin();
    while (!all_sleep(io)) std::this_thread::yield();
    CHECK(rt.shutdown({.report = -1}).cancelled == lines.size());
  }
}

TEST_CASE("a runtime that is destroyed while tasks wait in drivers kills them") {
  for (std::size_t workers : worker_counts) {
    std::vector<wire> lines(30);
    readiness_drivers io;
    hocket::runtime rt({.workers = workers});
    io.on(rt);
    for (const wire& one : lines) spawn(rt, read_one, std::cref(one));
    while (waiting(io) < lines.size() / 2) std::this_thread::yield();
  }
}

TEST_CASE("a dump tells of the waits while all workers sleep in their drivers") {
  std::vector<wire> lines(5);
  readiness_drivers io;
  hocket::runtime rt({.workers = 3, .name = "shop"});
  io.on(rt);
  for (const wire& one : lines) spawn(rt, read_one, std::cref(one));
  while (waiting(io) != lines.size() || !all_sleep(io)) std::this_thread::yield();
  const std::string text = dump_text(rt);
  CAPTURE(text);
  CHECK(lines_of(text)[0] == "runtime \"shop\": 5 live");
  std::size_t waits = 0;
  for (const std::string& line : lines_of(text)) waits += line.find("a descriptor") != std::string::npos;
  CHECK(waits == lines.size());
  CHECK_FALSE(holds(text, "nothing here"));  // a driver may bring something
}

TEST_CASE("in a child, destroying a runtime with drivers of its parent does nothing") {
  readiness_drivers io;
  auto rt = std::make_unique<hocket::runtime>(runtime_options{.workers = 2});
  io.on(*rt);
  while (!all_sleep(io)) std::this_thread::yield();
  expect_fatal(
      [&] {
        rt.reset();
        detail::fatal("the end of the child", "none");
      },
      "the end of the child");
  CHECK(sync_wait(spawn(*rt, twice, 4)) == 8);
}
