// How coroutines of a loop end: cancelled, killed, by an exception, with their loop.
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/run.hpp>

#include "support/death.hpp"
#include "unit/runtime/gate.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> note(std::vector<int>& order, int what) {
  order.push_back(what);
  co_return;
}

// Sets a flag when it is destroyed.
struct witness {
  bool* gone;
  explicit witness(bool& flag) noexcept : gone(&flag) {}
  witness(const witness&) = delete;
  ~witness() { *gone = true; }
};

task<> wait_with(gate& at, bool& gone) {
  witness local(gone);
  static_cast<void>(co_await at.pass());
}

task<int> refuse() {
  throw std::runtime_error("refused");
  co_return 0;
}

}  // namespace

TEST_CASE("cancel ends the waits of a coroutine as an error, present and later ones") {
  loop lp;
  gate shut;
  std::vector<std::error_code> ended;
  auto wait = [&]() -> task<> {
    for (int i = 0; i < 2; ++i) ended.push_back((co_await shut.pass()).error());
  };
  auto handle = spawn(lp, wait);
  lp.step();
  handle.cancel();
  lp.run();
  REQUIRE(ended.size() == 2);
  CHECK(ended[0] == std::errc::operation_canceled);
  CHECK(ended[1] == std::errc::operation_canceled);
}

TEST_CASE("kill unwinds a coroutine, and its join says so") {
  loop lp;
  gate shut;
  bool gone = false;
  auto handle = spawn(lp, wait_with, std::ref(shut), std::ref(gone));
  lp.step();
  handle.kill();
  CHECK_FALSE(gone);
  lp.run();
  CHECK(gone);
  CHECK_THROWS_AS(sync_wait(handle), cancelled);
}

TEST_CASE("a coroutine that was killed before it began never runs") {
  loop lp;
  std::vector<int> order;
  auto handle = spawn(lp, note, std::ref(order), 1);
  handle.kill();
  lp.run();
  CHECK(order.empty());
  CHECK(sync_wait(handle.join()).error() == std::errc::operation_canceled);
}

TEST_CASE("what was given to a coroutine that never begins is destroyed at its end, not with its handle") {
  auto keep = [](std::shared_ptr<int>) -> task<> { co_return; };
  std::weak_ptr<int> given;
  SUBCASE("killed before it began") {
    loop lp;
    auto owned = std::make_shared<int>(1);
    given = owned;
    auto handle = spawn(lp, keep, std::move(owned));
    handle.kill();
    lp.run();
    CHECK(given.expired());
  }
  SUBCASE("refused") {
    struct spawner {
      std::function<void()> last_will;
      ~spawner() { last_will(); }
    };
    join_handle<> refused;
    bool ended_at_once = false;
    auto owned = std::make_shared<int>(1);
    given = owned;
    gate shut;
    std::function<void()> spawn_late;
    auto body = [&]() -> task<> {
      spawner local{spawn_late};
      static_cast<void>(co_await shut.pass());
    };
    {
      loop lp;
      spawn_late = [&] {
        refused = spawn(lp, keep, std::move(owned));
        ended_at_once = refused.done() && given.expired();
      };
      spawn(lp, body);
      lp.step();
    }
    CHECK(ended_at_once);
    CHECK(sync_wait(refused.join()).error() == std::errc::operation_canceled);
  }
}

TEST_CASE("a body's frame is gone at its end, also where its result cannot be handed over") {
  static int moves;
  struct fragile {
    fragile() = default;
    fragile(fragile&&) {
      if (++moves == 2) throw std::runtime_error("moved");
    }
  };
  struct life {
    bool* over;
    explicit life(bool& end) noexcept : over(&end) {}
    life(life&& other) noexcept : over(std::exchange(other.over, nullptr)) {}
    ~life() {
      if (over) *over = true;
    }
  };
  moves = 0;
  bool over = false;
  auto body = [](life) -> task<fragile> { co_return fragile(); };
  loop lp;
  auto h = spawn(lp, body, life(over));
  lp.run();
  CHECK(over);
  CHECK_THROWS_AS(static_cast<void>(sync_wait(std::move(h))), std::runtime_error);
}

TEST_CASE("a coroutine that kills itself goes on to its next wait") {
  loop lp;
  join_handle<> self;
  bool reached = false;
  bool passed = false;
  auto suicide = [&]() -> task<> {
    self.kill();
    reached = true;
    co_await yield();
    passed = true;
  };
  self = spawn(lp, suicide);
  lp.run();
  CHECK(reached);
  CHECK_FALSE(passed);
}

TEST_CASE("the end of a loop unwinds coroutines in every state") {
  gate shut;
  bool waiting = false;
  bool joining = false;
  bool yielding = false;
  bool unstarted = false;
  std::vector<int> order;
  join_handle<> outlives;
  {
    loop lp;
    auto first = spawn(lp, wait_with, std::ref(shut), std::ref(waiting));
    auto join = [&](join_handle<> of) -> task<> {
      witness local(joining);
      co_await of;
    };
    spawn(lp, join, std::move(first));
    auto spin = [&]() -> task<> {
      witness local(yielding);
      for (;;) co_await yield();
    };
    outlives = spawn(lp, spin);
    for (int i = 0; i < 8; ++i) lp.step();
    spawn(lp, [&](std::unique_ptr<witness>) -> task<> { return note(order, 1); }, std::make_unique<witness>(unstarted));
    CHECK_FALSE(waiting);
  }
  CHECK(waiting);
  CHECK(joining);
  CHECK(yielding);
  CHECK(unstarted);
  CHECK(order.empty());
  CHECK_THROWS_AS(sync_wait(outlives), cancelled);
}

TEST_CASE("a spawn on a loop that ends is refused") {
  std::vector<int> order;
  gate shut;
  {
    loop lp;
    struct spawner {
      loop& on;
      std::vector<int>& order;
      ~spawner() { spawn(on, note, std::ref(order), 1); }
    };
    auto last_will = [&]() -> task<> {
      spawner local{lp, order};
      static_cast<void>(co_await shut.pass());
    };
    spawn(lp, last_will);
    lp.step();
  }
  CHECK(order.empty());
}

TEST_CASE("an exception that nobody receives goes to on_unhandled, with the coroutine's name") {
  static std::string who;
  who.clear();
  loop lp({.on_unhandled = [](std::exception_ptr, const context& ctx) noexcept { who = ctx.name(); }});
  spawn(lp, {.name = "culprit"}, refuse);
  lp.run();
  CHECK(who == "culprit");
}

TEST_CASE(
    "without on_unhandled, an exception that nobody receives is fatal, and the message has its text and the spawn") {
  expect_fatal(
      [] {
        loop lp;
        spawn(lp, {.name = "culprit"}, refuse);
        lp.run();
      },
      "an exception left a coroutine that is not joined: refused");
  expect_fatal(
      [] {
        loop lp;
        auto throws_number = []() -> task<> {
          throw 7;
          co_return;
        };
        spawn(lp, {.name = "culprit"}, throws_number);
        lp.run();
      },
      "an exception left a coroutine that is not joined");
  const child_end end = end_of_child([] {
    loop lp;
    spawn(lp, {.name = "culprit"}, refuse);
    lp.run();
  });
  CHECK(end.errors.find("culprit") != std::string::npos);
  CHECK(end.errors.find("ending_test.cpp") != std::string::npos);
}

TEST_CASE("an exception whose handle is dropped unawaited is not lost, whenever that happens") {
  static std::string who;
  who.clear();
  join_handle<int> outlives;
  {
    loop lp({.on_unhandled = [](std::exception_ptr, const context& ctx) noexcept { who += ctx.name(); }});
    auto handle = spawn(lp, {.name = "a"}, refuse);
    lp.run();
    CHECK(who.empty());
    handle = {};
    CHECK(who == "a");
    outlives = spawn(lp, {.name = "b"}, refuse);
    auto taken = spawn(lp, {.name = "c"}, refuse);
    lp.run();
    CHECK_THROWS_AS(sync_wait(taken), std::runtime_error);
  }
  CHECK(who == "a");
  outlives = {};
  CHECK(who == "ab");
}

TEST_CASE("a handle gives the result once; the second await is fatal") {
  auto twice = [] {
    loop lp;
    auto answer = []() -> task<int> { co_return 42; };
    auto handle = spawn(lp, {.name = "oracle"}, answer);
    lp.run();
    CHECK(sync_wait(handle) == 42);
    sync_wait(handle);
  };
  expect_fatal(twice, "awaited twice");
}

TEST_CASE("a coroutine that awaits its own end is fatal, also in a part of it") {
  auto all = [] {
    loop lp;
    join_handle<> self;
    auto body = [&]() -> task<> { co_await self; };
    self = spawn(lp, {.name = "narcissus"}, body);
    lp.run();
  };
  expect_fatal(all, "a coroutine awaits its own end [coroutine narcissus]");
  auto part = [] {
    loop lp;
    join_handle<> self;
    auto nothing = []() -> task<> { co_return; };
    auto joins = [&]() -> task<> { co_await self; };
    auto body = [&]() -> task<> { co_await when_all(nothing(), joins()); };
    self = spawn(lp, {.name = "narcissus"}, body);
    lp.run();
  };
  expect_fatal(part, "a coroutine awaits its own end [coroutine narcissus]");
}

TEST_CASE("without a handler an exception that nobody receives is fatal") {
  auto lose_one = [] {
    loop lp;
    spawn(lp, {.name = "culprit"}, refuse);
    lp.run();
  };
  expect_fatal(lose_one, "culprit");
}

TEST_CASE("a coroutine that ends by a cancellation is no error") {
  loop lp;
  gate shut;
  auto give_up = [&]() -> task<> {
    if (auto passed = co_await shut.pass(); !passed) detail::throw_error(passed.error());
  };
  spawn(lp, give_up).cancel();
  lp.run();
  CHECK(lp.live() == 0);
}

TEST_CASE("a coroutine that swallows its killing is fatal, by name") {
  auto swallow = [] {
    gate shut;
    loop lp;
    auto stubborn = [&]() -> task<> {
      try {
        static_cast<void>(co_await shut.pass());
      } catch (...) {
      }
    };
    spawn(lp, {.name = "stubborn"}, stubborn);
    lp.step();
  };
  expect_fatal(swallow, "stubborn");
}
