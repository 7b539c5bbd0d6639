// Scopes in tasks without a loop, and misuse. What they do in each kind is a suite (tests/suites/scope.hpp).
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>

#include "support/death.hpp"
#include "unit/runtime/gate.hpp"

#include <doctest/doctest.h>
#include <functional>

using namespace hocket;
using namespace hocket_test;

namespace {

task<> slow(int& count) {
  for (int i = 0; i < 3; ++i) co_await yield();
  ++count;
}

}  // namespace

TEST_CASE("a yield on a plain thread goes on under that thread's context") {
  auto child = []() -> task<> { co_return; };
  bool root_again = false;
  auto body = [&](scope& all) -> task<> {
    spawn(all, child);
    co_await yield();
    root_again = current_context().coroutine() == nullptr;
  };
  auto whole = [&]() -> task<> { co_await in_scope(body); };
  sync_wait(whole());
  CHECK(root_again);
}

TEST_CASE("in a task the body runs in the scope, and its children end first") {
  int count = 0;
  auto body = [&](scope& all) -> task<int> {
    spawn(all, slow, std::ref(count));
    co_return 5;
  };
  auto whole = [&]() -> task<int> {
    int five = co_await in_scope(body);
    co_return five + count;
  };
  CHECK(sync_wait(whole()) == 6);
}

TEST_CASE("a bare scope that a task leaves with children in it is fatal") {
  auto leave = [] {
    gate shut;
    auto careless = [&]() -> task<> {
      scope all({.name = "bare"});
      spawn(all, [&]() -> task<> { static_cast<void>(co_await shut.pass()); });
      co_return;
    };
    sync_wait(careless());
  };
  expect_fatal(leave, "left by a task");
}

TEST_CASE("a scope outside of any executor is fatal") {
  expect_fatal([] { scope nowhere; }, "outside of any executor");
}
