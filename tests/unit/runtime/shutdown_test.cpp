// The end of a runtime, step by step.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>

#include "support/death.hpp"
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

constexpr std::size_t worker_counts[] = {1, 2, 8};
constexpr int nowhere = -1;

task<> wait_for(event& bell) { [[maybe_unused]] auto set = co_await bell.wait(); }

// Does not end when it is cancelled.
task<> insist(event& bell, std::atomic<bool>& begun) {
  begun = true;
  auto body = [&]() -> task<> { [[maybe_unused]] auto set = co_await bell.wait(); };
  co_await shielded(body());
}

task<int> answer(std::atomic<int>& begun) {
  ++begun;
  co_return 42;
}

}  // namespace

TEST_CASE("a runtime with nothing on it is shut down at once, and refuses from then on") {
  hocket::runtime rt({.workers = 1});
  std::atomic<int> begun{0};
  const auto told = rt.shutdown({.drain = 1h});
  CHECK(told.drained + told.cancelled + told.killed + told.remaining == 0);
  auto late = spawn(rt, answer, std::ref(begun));
  auto got = sync_wait(late.join());
  CHECK(got.error() == std::errc::operation_canceled);
  CHECK(begun == 0);
  CHECK(rt.live() == 0);
}

TEST_CASE("what ends by itself is drained") {
  for (std::size_t workers : worker_counts) {
    hocket::runtime rt({.workers = workers});
    event bell;
    for (int i = 0; i < 100; ++i) spawn(rt, wait_for, std::ref(bell));
    std::thread rings([&] { bell.set(); });
    const auto told = rt.shutdown({.drain = 1h, .report = nowhere});
    rings.join();
    CHECK(told.drained <= 100);  // fewer if some had ended before
    CHECK(told.cancelled + told.killed + told.remaining == 0);
  }
}

TEST_CASE("what does not end by itself is cancelled") {
  for (std::size_t workers : worker_counts) {
    hocket::runtime rt({.workers = workers});
    event never;
    for (int i = 0; i < 100; ++i) spawn(rt, wait_for, std::ref(never));
    const auto told = rt.shutdown({.cancel = 1h});
    CHECK(told.drained == 0);
    CHECK(told.cancelled == 100);
    CHECK(told.killed + told.remaining == 0);
  }
}

TEST_CASE("what does not heed that is named, and killed") {
  for (std::size_t workers : worker_counts) {
    std::atomic<bool> begun{false};
    event never;
    hocket::runtime rt({.workers = workers});
    for (int i = 0; i < 10; ++i) spawn(rt, wait_for, std::ref(never));
    spawn(rt, {.name = "stubborn"}, insist, std::ref(never), std::ref(begun));
    while (!begun) std::this_thread::yield();
    const memory_file report;
    const auto told = rt.shutdown({.cancel = 1ms, .kill = 1h, .report = report.fd});
    CHECK(told.killed >= 1);
    CHECK(told.cancelled + told.killed == 11);
    CHECK(told.remaining == 0);
    CHECK(report.text().find("stubborn") != std::string::npos);
  }
}

TEST_CASE("what does not let go is left, and named") {
  std::atomic<bool> go{false};
  std::atomic<bool> runs{false};
  hocket::runtime rt({.workers = 2});
  auto hold = [&]() -> task<> {
    runs = true;
    while (!go) std::this_thread::yield();
    co_return;
  };
  spawn(rt, {.name = "busy"}, hold);
  while (!runs) std::this_thread::yield();
  const memory_file report;
  const auto told = rt.shutdown({.cancel = 0ms, .kill = 0ms, .report = report.fd});
  CHECK(told.remaining == 1);
  CHECK(report.text().find("busy") != std::string::npos);
  CHECK(report.text().find("does not come back from") != std::string::npos);
  go = true;
}

TEST_CASE("while it drains, children of scopes are let in, and nothing else is") {
  hocket::runtime rt({.workers = 2});
  event refusing;
  std::atomic<int> begun{0};
  std::error_code loose, inside;
  auto body = [&]() -> task<> {
    [[maybe_unused]] auto set = co_await refusing.wait();
    auto other = spawn(answer, std::ref(begun));
    auto refused = co_await other.join();
    loose = refused ? std::error_code{} : refused.error();
    auto with_child = [&](scope& all) -> task<> {
      auto child = spawn(all, answer, std::ref(begun));
      auto got = co_await child.join();
      inside = got ? std::error_code{} : got.error();
    };
    co_await in_scope(with_child);
  };
  spawn(rt, body);
  std::thread ends([&] {
    const auto told = rt.shutdown({.drain = 1h});
    CHECK(told.cancelled + told.killed + told.remaining == 0);
  });
  std::atomic<int> probes{0};
  for (bool open = true; open;) {
    auto probe = spawn(rt, answer, std::ref(probes));
    auto got = sync_wait(probe.join());
    open = got.has_value();
  }
  refusing.set();
  ends.join();
  CHECK(loose == std::errc::operation_canceled);
  CHECK(inside == std::error_code{});
  CHECK(begun == 1);
}

TEST_CASE("a shutdown may be called again, and by several at once") {
  hocket::runtime rt({.workers = 2});
  event never;
  for (int i = 0; i < 50; ++i) spawn(rt, wait_for, std::ref(never));
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) all.emplace_back([&] { CHECK(rt.shutdown({.cancel = 1h}).remaining == 0); });
  for (auto& one : all) one.join();
  CHECK(rt.shutdown().remaining == 0);
}

TEST_CASE("a shutdown by one of its own coroutines is fatal") {
  expect_fatal(
      [] {
        hocket::runtime rt({.workers = 1});
        auto body = [&]() -> task<> {
          rt.shutdown();
          co_return;
        };
        sync_wait(spawn(rt, body));
      },
      "a runtime was shut down by one of its own coroutines");
}
