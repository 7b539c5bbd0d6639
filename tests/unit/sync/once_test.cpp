// What is wrong with a once, and is found.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/once.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <utility>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a turn moves, and is passed on by its last place") {
  once all;
  {
    auto first = sync_wait(all.enter());
    REQUIRE(static_cast<bool>(*first));
    once::turn second = *std::move(first);
    CHECK_FALSE(*first);
    once::turn third;
    third = std::move(second);
    CHECK_FALSE(second);
    CHECK(static_cast<bool>(third));
  }
  CHECK_FALSE(all.is_done());
  auto again = sync_wait(all.enter());
  REQUIRE(static_cast<bool>(*again));
  again->done();
  CHECK(all.is_done());
  auto late = sync_wait(all.enter());
  CHECK_FALSE(*late);
}

TEST_CASE("an empty turn that is said to be done is fatal") {
  auto twice = [] {
    once all;
    auto turn = sync_wait(all.enter());
    turn->done();
    turn->done();
  };
  expect_fatal(twice, "an empty turn was said to be done");
}

TEST_CASE("a once that is destroyed while somebody has its turn is fatal") {
  if (!detail::debug_checks) return;
  auto destroy = [] {
    auto all = std::make_unique<once>();
    auto turn = sync_wait(all->enter());
    all.reset();
  };
  expect_fatal(destroy, "a once was destroyed while a coroutine has its turn");
}
