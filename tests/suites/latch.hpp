// The latch, for every kind.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/latch.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <vector>

namespace hocket_test {

template <class Kind>
using latch_of = hocket::basic_latch<typename Kind::strength>;

TEST_CASE_TEMPLATE("a latch opens at the last count, for all who wait and for good", Kind, HOCKET_SUITE_KINDS) {
  latch_of<Kind> latch(4);
  std::atomic<int> through{0};
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto open = co_await latch.wait();
    CHECK(open.has_value());
    ++through;
  };
  world.start(wait);
  world.start(wait);
  world.start(wait);
  world.settle();
  latch.count_down();
  latch.count_down(2);
  latch.count_down(0);
  world.settle();
  CHECK_FALSE(latch.is_ready());
  CHECK(through == 0);
  latch.count_down();
  CHECK(latch.is_ready());
  world.settle();
  CHECK(through == 3);
  world.start(wait);
  world.settle();
  CHECK(through == 4);
  latch_of<Kind> open(0);
  CHECK(open.is_ready());
}

TEST_CASE_TEMPLATE("those who arrive at a latch and wait go on when the last has come", Kind, HOCKET_SUITE_KINDS) {
  constexpr int parties = 4;
  latch_of<Kind> latch(parties);
  std::atomic<int> come{0}, through{0};
  Kind world;
  auto arrive = [&]() -> typename Kind::body {
    ++come;
    auto open = co_await latch.arrive_and_wait();
    CHECK(open.has_value());
    CHECK(come == parties);
    ++through;
  };
  for (int i = 1; i < parties; ++i) world.start(arrive);
  world.settle();
  CHECK(through == 0);
  world.start(arrive);
  world.settle();
  CHECK(through == parties);
}

TEST_CASE_TEMPLATE("who arrives for several opens a latch for several", Kind, HOCKET_SUITE_KINDS) {
  latch_of<Kind> latch(5);
  std::atomic<int> through{0};
  Kind world;
  auto arrive = [&](std::size_t n) -> typename Kind::body {
    auto open = co_await latch.arrive_and_wait(n);
    if (open) ++through;
  };
  world.start(arrive, 2u);
  world.settle();
  CHECK(through == 0);
  world.start(arrive, 3u);
  world.settle();
  CHECK(through == 2);
}

TEST_CASE_TEMPLATE("a latch may be destroyed by the one whom it lets through", Kind, HOCKET_SUITE_KINDS) {
  auto latch = std::make_unique<latch_of<Kind>>(1);
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto open = co_await latch->wait();
    CHECK(open.has_value());
    latch.reset();
  };
  world.start(wait);
  world.settle();
  latch->count_down();
  world.settle();
  CHECK(latch == nullptr);
}

TEST_CASE_TEMPLATE("a wait for a latch is cancelled, timed and killed alone, and its count stands", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  latch_of<Kind> latch(5);
  std::vector<std::error_code> ends(4);
  Kind world;
  auto wait = [&](std::size_t n, hocket::duration limit) -> typename Kind::body {
    auto got = co_await within(limit, latch.arrive_and_wait());
    if (!got) ends[n] = got.error();
  };
  int patient = world.start(wait, 0u, hocket::duration::max());
  int cancelled = world.start(wait, 1u, hocket::duration::max());
  int late = world.start(wait, 2u, hocket::duration(5ms));
  int killed = world.start(wait, 3u, hocket::duration(1s));
  world.settle();
  world.cancel(cancelled);
  world.kill(killed);
  world.pass(5ms);
  CHECK(ends[1] == std::errc::operation_canceled);
  CHECK(ends[2] == std::errc::timed_out);
  CHECK(world.ended(late) == fate::ended);
  CHECK(world.ended(killed) == fate::killed);
  CHECK(world.ended(patient) == fate::running);
  CHECK_FALSE(latch.is_ready());
  latch.count_down();  // the fifth
  world.settle();
  CHECK(world.ended(patient) == fate::ended);
  CHECK_FALSE(ends[0]);
}

TEST_CASE_TEMPLATE("a latch stands in a select in order: what is chosen before it keeps it from counting", Kind,
                   HOCKET_SUITE_KINDS) {
  latch_of<Kind> latch(2);
  hocket::basic_event<typename Kind::strength> set(true), bell;
  std::optional<std::size_t> first, second;
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    auto got = co_await select_in_order(set.wait(), latch.arrive_and_wait());
    first = got->index();
    auto other = co_await select_in_order(bell.wait(), latch.arrive_and_wait());
    second = other->index();
  };
  world.start(choose);
  world.settle();
  CHECK(first == 0u);
  CHECK_FALSE(second);
  latch.count_down();
  world.settle();
  CHECK(second == 1u);
  CHECK(latch.is_ready());
}

}  // namespace hocket_test
