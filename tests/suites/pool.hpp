// The pool, for every kind.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/pool.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>

namespace hocket_test {

// Counts the living objects; each has a number.
struct pooled {
  explicit pooled(int n) : number(n) { ++live; }
  pooled(const pooled&) = delete;
  pooled& operator=(const pooled&) = delete;
  ~pooled() { --live; }
  int number;
  bool broken = false;
  static inline std::atomic<int> live{0};
};

template <class Kind>
using pool_of = hocket::basic_pool<pooled, typename Kind::strength>;

TEST_CASE_TEMPLATE("a pool lends what was given back last, and nothing where it has none", Kind, HOCKET_SUITE_KINDS) {
  pool_of<Kind> all({.limit = 3});
  Kind world;
  auto work = [&]() -> typename Kind::body {
    auto first = co_await all.borrow();
    CHECK_FALSE(*first);
    first->emplace(1);
    auto second = co_await all.borrow();
    second->emplace(2);
    CHECK(all.in_use() == 2);
    first->release();
    second->release();
    CHECK(all.idle() == 2);
    CHECK(all.in_use() == 0);
    auto again = co_await all.borrow();
    CHECK(static_cast<bool>(*again));
    CHECK((*again)->number == 2);
    CHECK((**again).number == 2);
  };
  const int only = world.start(work);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(all.idle() == 2);
  CHECK(pooled::live == 2);
  CHECK(all.trim(true) == 2);
  CHECK(pooled::live == 0);
}

TEST_CASE_TEMPLATE("who finds a pool empty waits, first come, first served", Kind, HOCKET_SUITE_KINDS) {
  pool_of<Kind> all({.limit = 1});
  hocket::basic_event<typename Kind::strength> go;
  record_of<Kind, int> order;
  Kind world;
  auto work = [&](int n) -> typename Kind::body {
    auto lent = co_await all.borrow();
    if (!*lent) lent->emplace(n);
    order.push_back(n);
    CHECK((*lent)->number == 1);
    static_cast<void>(co_await go.wait());
  };
  for (int n : {1, 2, 3}) world.start(work, n);
  world.settle();
  CHECK(order == std::vector{1});
  go.set();
  world.settle();
  CHECK(order == std::vector{1, 2, 3});
  CHECK(all.idle() == 1);
}

TEST_CASE_TEMPLATE("a borrower that is ended while it waits takes nothing", Kind, HOCKET_SUITE_KINDS) {
  pool_of<Kind> all({.limit = 1});
  hocket::basic_event<typename Kind::strength> go;
  Kind world;
  auto holds = [&]() -> typename Kind::body {
    auto lent = co_await all.borrow();
    lent->emplace(1);
    static_cast<void>(co_await go.wait());
  };
  auto waits = [&]() -> typename Kind::body {
    auto lent = co_await all.borrow();
    CHECK_FALSE(lent.has_value());
    CHECK(lent.error() == std::errc::operation_canceled);
  };
  auto late = [&]() -> typename Kind::body {
    auto lent = co_await hocket::within(std::chrono::milliseconds(5), all.borrow());
    CHECK_FALSE(lent.has_value());
    CHECK(lent.error() == std::errc::timed_out);
  };
  world.start(holds);
  world.settle();
  const int cancelled = world.start(waits), killed = world.start(waits);
  world.start(late);
  world.settle();
  world.cancel(cancelled);
  world.kill(killed);
  world.pass(std::chrono::milliseconds(10));
  world.settle();
  go.set();
  world.settle();
  CHECK(all.idle() == 1);
  CHECK(all.in_use() == 0);
}

TEST_CASE_TEMPLATE("a lease that a failure ends destroys its object, and the next in line may make another", Kind,
                   HOCKET_SUITE_KINDS) {
  pool_of<Kind> all({.limit = 1});
  hocket::basic_event<typename Kind::strength> never;
  int made = 0;
  Kind world;
  auto fails = [&](bool waits) -> typename Kind::body {
    auto lent = co_await all.borrow();
    if (!*lent) lent->emplace(++made);
    if (waits) static_cast<void>(co_await never.wait());
    throw std::runtime_error("no");
  };
  auto keeps = [&]() -> typename Kind::body {
    auto lent = co_await all.borrow();
    CHECK_FALSE(*lent);
    lent->emplace(++made);
  };
  const int threw = world.start(fails, false);
  world.settle();
  CHECK(world.ended(threw) == fate::threw);
  CHECK(pooled::live == 0);
  const int killed = world.start(fails, true);
  world.settle();
  const int next = world.start(keeps);
  world.settle();
  CHECK(pooled::live == 1);
  world.kill(killed);
  world.settle();
  CHECK(world.ended(killed) == fate::killed);
  CHECK(world.ended(next) == fate::ended);
  CHECK(made == 3);
  CHECK(all.idle() == 1);
}

}  // namespace hocket_test
