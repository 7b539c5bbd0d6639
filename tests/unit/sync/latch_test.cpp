// What is wrong with latches, and is found.
#include <hocket/sync/latch.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <memory>

using namespace hocket;
using namespace hocket_test;

namespace {

script wait_for(latch& what) { static_cast<void>(co_await what.wait()); }

}  // namespace

TEST_CASE("a latch that is counted below zero is fatal") {
  auto below = [](std::size_t n) {
    latch two(2);
    two.count_down(n);
    two.count_down();
  };
  expect_fatal([&] { below(2); }, "a latch was counted down below zero");
  expect_fatal([&] { below(3); }, "a latch was counted down below zero");
}

TEST_CASE("a latch that is to count more than it can is fatal") {
  latch most(latch::max);
  CHECK_FALSE(most.is_ready());
  expect_fatal([] { latch more(latch::max + 1); }, "a latch was to count more than it can");
  expect_fatal([] { latch negative(static_cast<std::size_t>(-1)); }, "a latch was to count more than it can");
}

TEST_CASE("a latch that is destroyed while somebody waits is fatal") {
  if (!detail::debug_checks) return;
  for (int waiters : {1, 2}) {
    auto destroy = [&] {
      stepped_executor on;
      auto closed = std::make_unique<latch>(1);
      script all[] = {wait_for(*closed), wait_for(*closed)};
      for (int i = 0; i < waiters; ++i) {
        all[i].start(on, &context::root());
        on.step();
      }
      closed.reset();
    };
    expect_fatal(destroy, "a latch was destroyed while it has a waiter");
  }
}
