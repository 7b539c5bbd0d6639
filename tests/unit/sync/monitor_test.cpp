// Who owns a monitor, where no spawned coroutine is there to own it.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/sync/monitor.hpp>

#include "support/death.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <utility>

using namespace hocket;
using namespace hocket_test;

namespace {

context_local<int> colour;

struct visits {
  monitor m;
  int again = 0;  // how often its owner could enter again
  int inside = 0;
  int most = 0;  // at once

  task<> enter_again() {
    auto in = m.try_enter();
    again += in ? 1 : 0;
    co_return;
  }
  // Lets the others come by.
  task<> visit() {
    auto in = co_await m.enter();
    most = std::max(most, ++inside);
    co_await yield();
    --inside;
  }
  task<> visit_shielded() { co_await shielded(visit()); }
};

}  // namespace

TEST_CASE("a task on a plain thread is in its monitor in blocks with surroundings of their own, too") {
  visits all;
  auto enter = [&]() -> task<> {
    auto in = co_await all.m.enter();
    co_await shielded(all.enter_again());
    co_await shielded(colour.with(1, all.enter_again()));
  };
  auto whole = enter();
  sync_wait(std::move(whole));
  CHECK(all.again == 2);
  CHECK(static_cast<bool>(all.m.try_enter()));
}

TEST_CASE("a child of a when_all leaves in a block what it entered outside") {
  monitor m;
  auto enter = [&]() -> task<> {
    auto in = co_await m.enter();
    co_await shielded([&]() -> task<> {
      in->leave();
      co_return;
    });
  };
  auto nothing = []() -> task<> { co_return; };
  auto both = [&]() -> task<> { co_await when_all(enter(), nothing()); };
  auto whole = both();
  sync_wait(std::move(whole));
  CHECK(static_cast<bool>(m.try_enter()));
}

TEST_CASE("the children of a when_all are not in a monitor together") {
  visits all;
  auto every = [&]() -> task<> { co_await when_all(all.visit(), all.visit_shielded(), all.visit()); };
  auto whole = every();
  sync_wait(std::move(whole));
  CHECK(all.most == 1);
  CHECK(all.inside == 0);
}

TEST_CASE("they are not in it together with their parent") {
  visits all;
  bool entered = false;
  auto look = [&]() -> task<> {
    entered = static_cast<bool>(all.m.try_enter());
    co_return;
  };
  auto parent = [&]() -> task<> {
    auto in = co_await all.m.enter();
    co_await when_all(look(), look());
  };
  auto whole = parent();
  sync_wait(std::move(whole));
  CHECK_FALSE(entered);
}

TEST_CASE("a guard that ends outside of its coroutine is fatal") {
  auto hand_on = [] {
    monitor m;
    monitor::guard in_hand;
    auto enter = [&]() -> task<> {
      auto in = co_await m.enter();
      in_hand = *std::move(in);
    };
    auto other = []() -> task<> { co_return; };
    auto both = [&]() -> task<> { co_await when_all(enter(), other()); };
    auto whole = both();
    sync_wait(std::move(whole));
  };
  expect_fatal(hand_on, "a monitor was left by a coroutine that is not in it");
}
