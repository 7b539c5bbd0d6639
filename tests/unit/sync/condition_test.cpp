// Waits for a condition, and in a monitor, that are awaited too late.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/condition.hpp>
#include <hocket/sync/monitor.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <utility>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a wait for a condition that is awaited when the mutex was unlocked is fatal") {
  if (!detail::debug_checks) return;
  auto late = [] {
    mutex m;
    condition bell;
    auto held = m.try_lock();
    auto wait = bell.wait(held);
    held.unlock();
    [[maybe_unused]] auto told = sync_wait(std::move(wait));
  };
  expect_fatal(late, "a condition was waited for without its mutex");
}

TEST_CASE("a wait in a monitor that is awaited when it was left is fatal") {
  if (!detail::debug_checks) return;
  auto late = [] {
    monitor m;
    auto in = m.try_enter();
    auto wait = m.wait(in);
    in.leave();
    [[maybe_unused]] auto told = sync_wait(std::move(wait));
  };
  expect_fatal(late, "a coroutine waits for a monitor that it is not in");
}

TEST_CASE("an empty guard is not waited with, nor left twice") {
  auto empty = [] {
    condition bell;
    mutex::guard none;
    [[maybe_unused]] auto told = sync_wait(bell.wait(none));
  };
  expect_fatal(empty, "a condition was waited for without its mutex");
  auto twice = [] {
    monitor m;
    auto in = m.try_enter();
    in.leave();
    in.leave();
  };
  expect_fatal(twice, "an empty guard of a monitor was left");
}
