// Coroutines that hold their worker are reported.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/kernel_copies.hpp"
#include "support/runtime_look.hpp"
#include "unit/runtime/errors_in_memory.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

std::atomic<int> reports{0}, rogues{0};
std::atomic<int> lines{0};

// `reports` last: it ends the test.
void note(const stall& of) noexcept {
  if (of.held >= 5ms && std::strcmp(of.coroutine, "rogue") == 0) {
    lines = static_cast<int>(of.spawned.line());
    ++rogues;
  }
  ++reports;
}

// Holds its worker until it is reported.
task<> hold() {
  while (reports == 0) std::this_thread::yield();
  co_return;
}
task<> yields_once() { co_await yield(); }
task<> holds_in_a_group() { co_await when_all(hold(), yields_once()); }

}  // namespace

TEST_CASE("fault 8: a coroutine that does not let go is named, also where there is one worker alone") {
  for (std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    reports = rogues = 0;
    hocket::runtime rt({.workers = workers, .stall_limit = 5ms, .on_stall = &note});
    const int here = __LINE__ + 1;
    sync_wait(spawn(rt, {.name = "rogue"}, hold));
    CHECK(rogues == 1);
    CHECK(lines == here);
  }
}

TEST_CASE("a stall is told of once, when it has lasted for the limit, and again when the worker came back in between") {
  detail::stall_sight seen;
  const context* const running = &context::root();
  time_point now{};
  const auto look = [&](std::size_t turns, const context* at) { return seen.observe(turns, at, now += 10ms, 25ms); };
  for (std::size_t turn : {std::size_t{1}, std::size_t{2}}) {
    CAPTURE(turn);
    CHECK(look(turn, running) == 0ms);
    CHECK(look(turn, running) == 0ms);
    CHECK(look(turn, running) == 0ms);
    CHECK(look(turn, running) == 30ms);
    for (int i = 0; i < 10; ++i) CHECK(look(turn, running) == 0ms);
  }
  auto other = context::child_of(context::root(), {});
  CHECK(look(2, other.get()) == 0ms);  // in the same turn
  for (int i = 0; i < 10; ++i) CHECK(look(3, nullptr) == 0ms);
}

TEST_CASE("a worker that nothing runs on is not stalled, nor is one whose coroutines let go, however long it takes") {
  hocket::runtime rt({.workers = 1});
  const detail::worker& only = detail::runtime_look::at(rt, 0);
  std::atomic<bool> over{false};
  detail::stall_sight seen;
  time_point now{};
  const auto look = [&] { return seen.observe(only.turns(), only.running(), now += 2h, 1h); };
  detail::runtime_look::wait_until_asleep(rt);
  for (int i = 0; i < 10; ++i) CHECK(look() == 0s);
  auto yields = [&]() -> task<> {
    while (!over) co_await yield();
  };
  auto busy = spawn(rt, yields);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t turns = only.turns();
    while (only.turns() == turns) std::this_thread::yield();
    CHECK(look() == 0s);
  }
  over = true;
  sync_wait(std::move(busy));
}

// It holds its worker until the other one is reported, so the detector checks it many times.
TEST_CASE("one that holds its worker until another is found holding his is told of once") {
  reports = rogues = 0;
  static std::atomic<int> others{0};
  others = 0;
  std::atomic<bool> other_found{false};
  hocket::runtime rt({.workers = 2, .stall_limit = 5ms, .on_stall = [](const stall& of) noexcept {
                        note(of);
                        if (std::strcmp(of.coroutine, "other") == 0) ++others;
                      }});
  auto first = [&]() -> task<> {
    while (!other_found) std::this_thread::yield();
    co_return;
  };
  auto second = [&]() -> task<> {
    while (others == 0) std::this_thread::yield();
    other_found = true;
    co_return;
  };
  auto one = spawn(rt, {.name = "rogue"}, first);
  while (rogues == 0) std::this_thread::yield();
  sync_wait(spawn(rt, {.name = "other"}, second));
  sync_wait(std::move(one));
  CHECK(rogues == 1);
}

TEST_CASE("a part of a coroutine that does not let go is told of by the name of the whole" *
          doctest::skip(!kernel_copies())) {
  const std::array<task<> (*)(), 4> parts = {
      []() -> task<> { co_await when_all(hold(), yields_once()); },
      []() -> task<> { co_await fork_join(yields_once(), hold()); },
      []() -> task<> { co_await fork_join(yields_once(), holds_in_a_group()); },
      []() -> task<> { co_await shielded(hold()); },
  };
  for (auto part : parts) {
    reports = rogues = 0;
    hocket::runtime rt({.workers = 1, .stall_limit = 5ms, .on_stall = &note});
    sync_wait(spawn(rt, {.name = "rogue"}, part));
    CHECK(rogues == 1);
  }
}

TEST_CASE("what is told of a stall may dump the runtime") {
  static std::atomic<hocket::runtime*> stalled{nullptr};
  reports = rogues = 0;
  hocket::runtime rt({.workers = 1, .stall_limit = 5ms, .on_stall = [](const stall& of) noexcept {
                        if (hocket::runtime* looked_at = stalled) looked_at->dump(-1);
                        note(of);
                      }});
  stalled = &rt;
  sync_wait(spawn(rt, {.name = "rogue"}, hold));
  CHECK(rogues == 1);
  stalled = nullptr;
}

// A worker that wakes rings for a detector that rests, and for none that looks.
TEST_CASE("the stall detector rests while all workers sleep, and looks again when one wakes") {
  reports = rogues = 0;
  hocket::runtime rt({.workers = 1, .stall_limit = 5ms, .on_stall = &note});
  for (const std::uint32_t before = detail::runtime_look::bell(rt); detail::runtime_look::bell(rt) == before;) {
    detail::runtime_look::wait_until_asleep(rt);
    sync_wait(spawn(rt, yields_once));
  }
  sync_wait(spawn(rt, {.name = "rogue"}, hold));
  CHECK(rogues == 1);
}

TEST_CASE("the usual report is a line with the name and the remedy") {
  const errors_in_memory errors;
  hocket::runtime rt({.workers = 1, .stall_limit = 1ms});
  auto body = [&]() -> task<> {
    while (errors.text().find('\n') == std::string::npos) std::this_thread::yield();
    co_return;
  };
  sync_wait(spawn(rt, {.name = "rogue"}, body));
  const std::string text = errors.text();
  CHECK(text.find("coroutine \"rogue\" has held worker 0") != std::string::npos);
  CHECK(text.find("blocking() run it") != std::string::npos);
}
