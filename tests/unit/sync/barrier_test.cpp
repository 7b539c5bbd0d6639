// What is wrong with barriers, and is found.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/barrier.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <memory>

using namespace hocket;
using namespace hocket_test;

namespace {

script wait_at(barrier& all) { static_cast<void>(co_await all.arrive_and_wait()); }

}  // namespace

TEST_CASE("a barrier for nobody, and for more than it can count, is fatal") {
  expect_fatal([] { barrier none(0); }, "a barrier was made for no party");
  expect_fatal([] { barrier negative(static_cast<std::size_t>(-1)); }, "for more parties than it can count");
  barrier most(barrier::max);
  CHECK_FALSE(most.arrive().last);
}

TEST_CASE("an arrival at a barrier that has no parties left is fatal") {
  barrier one(1);
  auto alone = sync_wait(one.arrive_and_wait());
  REQUIRE(alone.has_value());
  CHECK(alone->last);
  CHECK(one.arrive_and_drop().last);
  expect_fatal([&] { one.arrive(); }, "of which all parties have dropped out");
  expect_fatal([&] { one.arrive_and_drop(); }, "of which all parties have dropped out");
  expect_fatal([&] { static_cast<void>(sync_wait(one.arrive_and_wait())); }, "of which all parties have dropped out");
}

TEST_CASE("a barrier that is destroyed while somebody waits is fatal") {
  if (!detail::debug_checks) return;
  auto destroy = [] {
    stepped_executor on;
    auto all = std::make_unique<barrier>(2);
    script one = wait_at(*all);
    one.start(on, &context::root());
    on.step();
    all.reset();
  };
  expect_fatal(destroy, "a barrier was destroyed while it has a waiter");
}
