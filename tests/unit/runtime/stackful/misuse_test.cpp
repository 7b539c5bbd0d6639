// Misuse of the primitives that check level `debug` finds, by name and with a remedy.
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/shared_mutex.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <thread>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a coroutine that locks what it holds is fatal, by name") {
  if (!detail::debug_checks) return;
  auto in_fiber = [] {
    loop lp;
    mutex m;
    spawn(lp, {.name = "greedy"}, [&] {
      auto once = await(m.lock());
      auto twice = await(m.lock());
    });
    lp.run();
  };
  expect_fatal(in_fiber, "greedy");
  auto in_task = [] {
    loop lp;
    mutex m;
    auto body = [&]() -> task<> {
      auto once = co_await m.lock();
      auto twice = co_await m.lock();
    };
    spawn(lp, {.name = "greedy"}, body);
    lp.run();
  };
  expect_fatal(in_task, "greedy");
}

TEST_CASE("a fiber that awaits its own end is fatal, by name") {
  auto join_oneself = [] {
    loop lp;
    join_handle<> self;
    self = spawn(lp, {.name = "narcissus"}, [&] { await(self); });
    lp.run();
  };
  expect_fatal(join_oneself, "a coroutine awaits its own end [coroutine narcissus]");
}

TEST_CASE("a fiber that unlocks what another has locked is fatal, by name; one that is killed may unlock its own") {
  if (!detail::debug_checks) return;
  for (const bool killed : {false, true}) {
    auto hand_on = [&] {
      loop lp;
      mutex m;
      mutex::guard* kept = nullptr;
      auto taker = spawn(lp, {.name = "taker"}, [&] {
        auto held = await(m.lock());
        kept = &*held;
        event never;
        [[maybe_unused]] auto set = await(never.wait());
      });
      spawn(lp, {.name = "thief"}, [&] {
        if (!killed) kept->unlock();
        taker.kill();
        [[maybe_unused]] auto joined = await(taker.join());
        if (m.try_lock()) detail::fatal("it was unlocked", "");
      });
      lp.run();
    };
    expect_fatal(hand_on, killed ? "it was unlocked" : "another one has locked [coroutine thief]");
  }
}

TEST_CASE("a mutex that is destroyed while it is held is fatal") {
  if (!detail::debug_checks) return;
  auto destroy = [] {
    auto m = std::make_unique<mutex>();
    [[maybe_unused]] auto* const held = new auto(m->try_lock());  // stays: to unlock would use the mutex that is gone
    m.reset();
  };
  expect_fatal(destroy, "a mutex was destroyed while it is held");
}

TEST_CASE("a coroutine that locks a shared mutex which it has locked for writing is fatal, by name") {
  if (!detail::debug_checks) return;
  for (bool writes : {false, true}) {
    auto lock_twice = [&] {
      loop lp;
      shared_mutex m;
      spawn(lp, {.name = "greedy"}, [&] {
        auto once = await(m.lock());
        if (writes) static_cast<void>(await(m.lock()));
        else static_cast<void>(await(m.lock_shared()));
      });
      lp.run();
    };
    expect_fatal(lock_twice, "greedy");
  }
}

TEST_CASE("a shared mutex that is destroyed while it is held is fatal") {
  if (!detail::debug_checks) return;
  auto destroy_read = [] {
    auto m = std::make_unique<shared_mutex>();
    auto held = m->try_lock_shared();
    m.reset();
  };
  expect_fatal(destroy_read, "a shared mutex was destroyed while it is held");
  auto destroy_written = [] {
    auto m = std::make_unique<shared_mutex>();
    auto held = m->try_lock();
    m.reset();
  };
  expect_fatal(destroy_written, "a shared mutex was destroyed while it is held");
}

TEST_CASE("a coroutine that enters what it has the turn of is fatal, by name") {
  if (!detail::debug_checks) return;
  auto enter_twice = [] {
    loop lp;
    once all;
    spawn(lp, {.name = "circular"}, [&] {
      auto turn = await(all.enter());
      auto again = await(all.enter());
    });
    lp.run();
  };
  expect_fatal(enter_twice, "circular");
}

TEST_CASE("an unsync primitive that two threads use is fatal") {
  if (!detail::debug_checks) return;
  auto share = [] {
    unsync::event bell;
    bell.set();
    std::thread([&] { bell.reset(); }).join();
  };
  expect_fatal(share, "an unsync primitive was used by two threads");
}

TEST_CASE("an operation that is dropped unawaited is fatal, with the place where it was asked for") {
  if (!detail::debug_checks) return;
  auto drop = [] {
    mutex m;
    static_cast<void>(m.lock());
  };
  expect_fatal(drop, "an operation was dropped without being awaited");
  expect_fatal(drop, "misuse_test.cpp");
}

TEST_CASE("a task that leaves a bare scope with children in it is fatal, by name") {
  auto leave = [] {
    loop lp;
    event never;
    auto child = [&]() -> task<> { static_cast<void>(co_await never.wait()); };
    auto parent = [&]() -> task<> {
      scope all({.name = "bare"});
      spawn(all, child);
      co_await yield();
    };
    spawn(lp, parent);
    lp.run();
  };
  expect_fatal(leave, "a scope was left by a task while children run");
  expect_fatal(leave, "bare");
}
