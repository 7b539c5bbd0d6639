// runtime::dump and runtime::counts.
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>

#include "support/death.hpp"
#include "support/kernel_copies.hpp"
#include "support/runtime_look.hpp"
#include "unit/runtime/dump_table.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// The line of a coroutine, in columns; empty if there is none.
std::vector<std::string> row_of(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text)) {
    if (line.rfind(name + "  ", 0) == 0) return columns_of(line);
  }
  return {};
}

std::size_t rows_with(const std::string& text, const std::string& part) {
  std::size_t rows = 0;
  for (const std::string& line : lines_of(text)) rows += line.find(part) != std::string::npos;
  return rows;
}

task<> wait_for(event& bell, std::atomic<int>& begun) {
  ++begun;
  [[maybe_unused]] auto set = co_await bell.wait();
}

task<> yield_until(std::atomic<bool>& over) {
  while (!over) co_await yield();
}

}  // namespace

TEST_CASE("a dump tells of each coroutine what it waits for, while the workers go on before and after") {
  for (std::size_t workers : {std::size_t{1}, std::size_t{2}, std::size_t{8}}) {
    CAPTURE(workers);
    event bell;
    std::atomic<int> begun{0};
    std::atomic<bool> over{false};
    hocket::runtime rt({.workers = workers, .name = "shop"});
    for (int i = 0; i < 20; ++i) spawn(rt, {.name = "waits"}, wait_for, std::ref(bell), std::ref(begun));
    for (int i = 0; i < 3; ++i) spawn(rt, {.name = "yields"}, yield_until, std::ref(over));
    while (begun < 20) std::this_thread::yield();
    for (int whole = 0; whole < 20;) {
      const std::string text = dump_text(rt);
      CAPTURE(text);
      CHECK(lines_of(text)[0] == "runtime \"shop\": 23 live");
      CHECK(rows_with(text, " turns, ") == workers);
      if (rows_with(text, "does not come back") != 0) continue;  // the machine did not give it any time
      ++whole;
      CHECK(rows_with(text, "an event") >= 19);  // one may be on its way into its wait
    }
    over = true;
    bell.set();
    CHECK(rt.shutdown({.drain = std::chrono::hours(1)}).remaining == 0);
  }
}

TEST_CASE("a coroutine dumps its own runtime, and is the one that runs") {
  hocket::runtime rt({.workers = 2});
  auto body = [&]() -> task<std::string> { co_return dump_text(rt); };
  const std::string text = sync_wait(spawn(rt, {.name = "curious"}, body));
  const auto row = row_of(text, "curious");
  REQUIRE(row.size() == 6);
  CHECK(row[1] == "task");
  CHECK(row[2] == "running");
}

TEST_CASE("several may dump at once, from inside and outside") {
  hocket::runtime rt({.workers = 4});
  auto body = [&]() -> task<> {
    for (int i = 0; i < 20; ++i) {
      CHECK(dump_text(rt).rfind("runtime ", 0) == 0);
      co_await yield();
    }
  };
  for (int i = 0; i < 4; ++i) spawn(rt, body);
  std::thread outside([&] {
    for (int i = 0; i < 20; ++i) CHECK(dump_text(rt).rfind("runtime ", 0) == 0);
  });
  outside.join();
  CHECK(rt.shutdown({.drain = std::chrono::hours(1)}).remaining == 0);
}

TEST_CASE("workers that are about to fall asleep stand still, too") {
  constexpr int times = 5000;
  hocket::runtime rt({.workers = 2});
  auto ask = [&] {
    for (int i = 0; i < times; ++i) detail::runtime_look::stand_still(rt);
  };
  std::thread other(ask);
  ask();
  other.join();
  CHECK(rt.counts().turns >= times);
}

TEST_CASE("a worker that does not come back is named, and the names of the coroutines are told") {
  event bell;
  std::atomic<int> begun{0};
  std::atomic<bool> holds{false}, go{false};
  bool in_part = false;
  SUBCASE("from the coroutine itself") {}
  SUBCASE("from a part of it") { in_part = kernel_copies(); }
  auto spin = [&]() -> task<> {
    holds = true;
    while (!go) std::this_thread::yield();
    co_return;
  };
  auto hold = [&]() -> task<> {
    if (in_part) co_await when_all(spin(), spin());
    else co_await spin();
  };
  hocket::runtime rt({.workers = 2});
  spawn(rt, {.name = "waits"}, wait_for, std::ref(bell), std::ref(begun));
  spawn(rt, {.name = "holds"}, hold);
  while (!holds || begun == 0) std::this_thread::yield();
  const std::string text = dump_text(rt);
  CAPTURE(text);
  CHECK(rows_with(text, "does not come back from holds") == 1);
  const auto row = row_of(text, "waits");
  REQUIRE(row.size() == 6);
  CHECK((row[2] == "waiting" || row[2] == "unknown"));
  CHECK(row_of(text, "holds")[2] == "running");
  go = true;
  bell.set();
}

// Worker 1 is held by a coroutine; where the machine gives worker 0 no time, it counts as held, too, and the dump is
// asked again.
TEST_CASE("a worker that does not stop leaves only the rows of its own coroutines incomplete" *
          doctest::skip(!kernel_copies())) {
  event bell;
  std::atomic<int> begun{0};
  std::atomic<bool> holds{false}, go{false};
  auto hold = [&]() -> task<> {
    holds = true;
    while (!go) std::this_thread::yield();
    co_return;
  };
  hocket::runtime rt({.workers = 2});
  const detail::worker_at first(rt, 0), second(rt, 1);
  join_handle<void> first_half, second_half;
  event both_spawned;
  auto join = [&](join_handle<void>& other) -> task<> {
    [[maybe_unused]] auto set = co_await both_spawned.wait();
    [[maybe_unused]] auto joined = co_await other.join();
  };
  first_half = spawn(first, {.name = "first half"}, join, std::ref(second_half));
  second_half = spawn(first, {.name = "second half"}, join, std::ref(first_half));
  both_spawned.set();
  for (int i = 0; i < 3; ++i) spawn(first, {.name = "waits"}, wait_for, std::ref(bell), std::ref(begun));
  spawn(second, {.name = "its own"}, wait_for, std::ref(bell), std::ref(begun));
  while (begun < 4) std::this_thread::yield();
  detail::runtime_look::wait_until_asleep(rt);
  spawn(second, {.name = "holds"}, hold);
  while (!holds) std::this_thread::yield();
  std::string text;
  do text = dump_text(rt);
  while (rows_with(text, "worker 0 does not come back") != 0);
  CAPTURE(text);
  CHECK(rows_with(text, "worker 1 does not come back from holds") == 1);
  const auto row = row_of(text, "waits");
  REQUIRE(row.size() == 6);
  CHECK(row[2] == "waiting");
  CHECK(row[3].find("runtime_dump_test.cpp:") != std::string::npos);
  CHECK(row[5] == "an event " + address_of(&bell));
  CHECK(rows_with(text, "an event ") == 3);
  REQUIRE(row_of(text, "its own").size() == 6);
  CHECK(row_of(text, "its own")[2] == "unknown");
  REQUIRE(row_of(text, "holds").size() == 6);
  CHECK(row_of(text, "holds")[2] == "running");
  CHECK(deadlocks_in(text).find("deadlock: they wait for one another, 2 in a circle") == 0);
  CHECK(rows_with(text, "nothing here") == 0);
  go = true;
  bell.set();
  rt.cancel_all();
}

TEST_CASE("a worker that has left the coroutine in which a standstill found it counts as having stayed no more") {
  event bell;
  std::atomic<bool> holds{false}, go{false};
  auto hold = [&]() -> task<> {
    holds = true;
    while (!go) std::this_thread::yield();
    [[maybe_unused]] auto set = co_await bell.wait();
  };
  hocket::runtime rt({.workers = 1});
  detail::worker& only = detail::runtime_look::at(rt, 0);
  spawn(rt, hold);
  while (!holds) std::this_thread::yield();
  only.record_stop(false);
  CHECK(only.in_motion());
  CHECK(only.is_unchanged());
  go = true;
  detail::runtime_look::wait_until_asleep(rt);
  CHECK_FALSE(only.is_unchanged());
  only.record_stop(false);
  CHECK_FALSE(only.is_unchanged());  // in no coroutine: it may be in any by now
  only.record_stop(true);
  CHECK_FALSE(only.in_motion());
  CHECK(only.is_unchanged());
  bell.set();
}

TEST_CASE("timers that fire are counted, and how late they were") {
  manual_clock time;
  hocket::runtime rt({.workers = 1, .clock = &time});
  std::atomic<std::size_t> sleeps_before{0};
  auto body = [&]() -> task<> {
    sleeps_before = rt.counts(0).sleeps + 1;
    [[maybe_unused]] auto slept = co_await sleep_for(10ms);
  };
  auto h = spawn(rt, body);
  while (sleeps_before == 0 || rt.counts(0).sleeps < sleeps_before) std::this_thread::yield();
  time.advance(15ms);
  rt.clock_moved();
  sync_wait(std::move(h));
  const runtime_counts seen = rt.counts();
  CHECK(seen.timers == 1);
  CHECK(seen.max_timer_lag == 5ms);
}

TEST_CASE("what workers do is counted") {
  constexpr int tasks = 500;
  hocket::runtime rt({.workers = 2});
  event never;
  std::atomic<int> begun{0};
  for (int i = 0; i < tasks; ++i) spawn(rt, wait_for, std::ref(never), std::ref(begun));
  while (begun < tasks) std::this_thread::yield();
  rt.shutdown();
  const runtime_counts all = rt.counts();
  CHECK(all.injected == tasks + tasks);  // each was spawned, and then cancelled, from this thread
  CHECK(all.resumed >= tasks);
  CHECK(all.turns >= 1);
  CHECK(rt.counts(0).resumed + rt.counts(1).resumed == rt.counts().resumed);
  expect_fatal([&] { static_cast<void>(rt.counts(2)); },
               "counts() was called for a worker that the runtime does not have");
}

TEST_CASE("what stands where others may take it is counted, and so is what they take") {
  constexpr std::size_t children = 10;
  struct stuck {
    std::atomic<bool> here{false}, go{false};
    void hold() {
      here = true;
      while (!go) std::this_thread::yield();
    }
  } first, second;
  std::atomic<std::size_t> ran{0};
  hocket::runtime rt({.workers = 2});
  auto child = [&ran]() -> task<> {
    ++ran;
    co_return;
  };
  auto has_children = [&]() -> task<> {
    for (std::size_t i = 0; i < children; ++i) spawn(child);
    first.hold();
    co_return;
  };
  auto holds = [&]() -> task<> {
    second.hold();
    co_return;
  };
  spawn(rt, holds);
  while (!second.here) std::this_thread::yield();
  spawn(rt, has_children);
  while (!first.here) std::this_thread::yield();
  CHECK(rt.counts().ready == children);
  const std::size_t stolen_before = rt.counts().stolen;
  second.go = true;
  while (ran < children) std::this_thread::yield();
  CHECK(rt.counts().stolen == stolen_before + children);
  CHECK(rt.counts(0).stolen + rt.counts(1).stolen == rt.counts().stolen);
  CHECK(rt.counts().ready == 0);
  first.go = true;
}

TEST_CASE("what may run on one worker only, and the frames that it keeps, are counted") {
  constexpr std::size_t parts = 8;
  std::atomic<std::size_t> begun{0};
  std::atomic<bool> over{false};
  hocket::runtime rt({.workers = 1});
  auto part = [&]() -> task<> {
    ++begun;
    co_await yield_until(over);
  };
  auto whole = [&]() -> task<> {
    std::vector<task<>> all;
    for (std::size_t i = 0; i < parts; ++i) all.push_back(part());
    co_await when_all(std::move(all));
  };
  auto end = spawn(rt, whole);
  while (begun < parts) std::this_thread::yield();
  const std::size_t turns = rt.counts().turns;
  while (rt.counts().turns < turns + 2) std::this_thread::yield();
  CHECK(rt.counts(0).pinned_ready == parts);
  const std::string text = dump_text(rt);
  CAPTURE(text);
  CHECK(rows_with(text, " 8 pinned ready, ") == 1);
  over = true;
  sync_wait(std::move(end));
  detail::runtime_look::wait_until_asleep(rt);
  CHECK(rt.counts(0).pinned_ready == 0);
  if (detail::recycles_frames) CHECK(rt.counts(0).frames > 0);
}
