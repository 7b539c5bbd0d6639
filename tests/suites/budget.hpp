// The budget of operations that are possible at once (core/wait/seam/budget.hpp), for every kind of coroutines that
// take turns on an executor. An `endless<S>` is an operation that is always possible: wait() gives the operation,
// over() returns whether nothing was lost.
#pragma once
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/sync/condition.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>

#include "suites/endless.hpp"
#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <system_error>

namespace hocket_test {

inline constexpr int budget = 256;

// One coroutine takes what there always is, until it cannot, or `enough`.
template <class Kind, class Source>
struct endless_loop {
  Source source;
  int begun = 0, done = 0;
  std::error_code error;

  auto body(int enough) {
    return [this, enough]() -> typename Kind::body {
      while (done < enough) {
        ++begun;
        auto got = co_await source.wait();
        if (!got) {
          error = got.error();
          break;
        }
        source.had();
        ++done;
      }
    };
  }
};

template <class Kind, class Source>
void expect_bounded() {
  endless_loop<Kind, Source> loop;
  int begun_before = 0, passes = 0;
  Kind world;
  auto other = [&]() -> typename Kind::body {
    while (loop.done < 10 * budget) {
      CHECK(loop.begun - begun_before <= budget);
      begun_before = loop.begun;
      ++passes;
      co_await hocket::yield();
    }
  };
  world.start(loop.body(10 * budget));
  world.start(other);
  world.settle();
  CHECK(passes >= 10);
  CHECK(!loop.error);
  CHECK(loop.source.over());
}

// While the one waits in its executor's queue, and has taken nothing yet, another one ends it.
template <class Kind, class Source>
void expect_ended(void (Kind::*end)(int), fate expected) {
  endless_loop<Kind, Source> loop;
  int begun_before = 0;
  Kind world;
  const int victim = world.start(loop.body(10 * budget));
  auto other = [&]() -> typename Kind::body {
    begun_before = loop.begun;
    CHECK(loop.done == loop.begun - 1);
    (world.*end)(victim);
    co_return;
  };
  world.start(other);
  world.settle();
  CHECK(world.ended(victim) == expected);
  CHECK(begun_before <= budget);
  CHECK(loop.begun == begun_before);  // that one took nothing
  CHECK(loop.done == begun_before - 1);
  CHECK(loop.source.over());
  if (expected == fate::ended) CHECK(loop.error == std::errc::operation_canceled);
}

TEST_CASE_TEMPLATE("who finds its operations possible again and again lets others run after 256 of them", Kind,
                   HOCKET_SUITE_KINDS) {
  using S = typename Kind::strength;
  SUBCASE("receives") { expect_bounded<Kind, endless_items<S>>(); }
  SUBCASE("sends") { expect_bounded<Kind, endless_room<S>>(); }
  SUBCASE("batches") { expect_bounded<Kind, endless_batches<S>>(); }
  SUBCASE("a channel of two") { expect_bounded<Kind, endless_ring<S>>(); }
  SUBCASE("a broadcast") { expect_bounded<Kind, endless_broadcast<S>>(); }
  SUBCASE("batches of a broadcast") { expect_bounded<Kind, endless_broadcast_batches<S>>(); }
  SUBCASE("a watch") { expect_bounded<Kind, endless_news<S>>(); }
  SUBCASE("permits") { expect_bounded<Kind, endless_permits<S>>(); }
  SUBCASE("an event that is set") { expect_bounded<Kind, endless_event<S>>(); }
  SUBCASE("an auto-reset event") { expect_bounded<Kind, endless_wakes<S>>(); }
  SUBCASE("selects") { expect_bounded<Kind, endless_choice<S>>(); }
  SUBCASE("a mutex") { expect_bounded<Kind, endless_lock<S>>(); }
  SUBCASE("a shared mutex, to write") { expect_bounded<Kind, endless_writes<S>>(); }
  SUBCASE("a shared mutex, to read") { expect_bounded<Kind, endless_reads<S>>(); }
  SUBCASE("a monitor") { expect_bounded<Kind, endless_entries<S>>(); }
  SUBCASE("a latch that is open") { expect_bounded<Kind, endless_latch<S>>(); }
  SUBCASE("a barrier for one") { expect_bounded<Kind, endless_phases<S>>(); }
  SUBCASE("a completion") { expect_bounded<Kind, endless_completion<S>>(); }
  SUBCASE("a once") { expect_bounded<Kind, endless_turns<S>>(); }
  SUBCASE("a stop that was requested") { expect_bounded<Kind, endless_stop>(); }
  SUBCASE("sleeps of no time") { expect_bounded<Kind, endless_short_sleeps>(); }
  SUBCASE("sleeps until a time that has passed") { expect_bounded<Kind, endless_late_sleeps>(); }
  SUBCASE("a shared task that has ended") { expect_bounded<Kind, endless_shared_task>(); }
}

TEST_CASE_TEMPLATE("a kill reaches who finds its operations possible again and again, and nothing is lost", Kind,
                   HOCKET_SUITE_KINDS) {
  using S = typename Kind::strength;
  SUBCASE("receives") { expect_ended<Kind, endless_items<S>>(&Kind::kill, fate::killed); }
  SUBCASE("sends") { expect_ended<Kind, endless_room<S>>(&Kind::kill, fate::killed); }
  SUBCASE("permits") { expect_ended<Kind, endless_permits<S>>(&Kind::kill, fate::killed); }
  SUBCASE("an auto-reset event") { expect_ended<Kind, endless_wakes<S>>(&Kind::kill, fate::killed); }
  SUBCASE("selects") { expect_ended<Kind, endless_choice<S>>(&Kind::kill, fate::killed); }
  SUBCASE("a mutex") { expect_ended<Kind, endless_lock<S>>(&Kind::kill, fate::killed); }
  SUBCASE("a monitor") { expect_ended<Kind, endless_entries<S>>(&Kind::kill, fate::killed); }
  SUBCASE("a barrier for one") { expect_ended<Kind, endless_phases<S>>(&Kind::kill, fate::killed); }
  SUBCASE("a once") { expect_ended<Kind, endless_turns<S>>(&Kind::kill, fate::killed); }
  SUBCASE("sleeps of no time") { expect_ended<Kind, endless_short_sleeps>(&Kind::kill, fate::killed); }
}

TEST_CASE_TEMPLATE("a cancel reaches who finds its operations possible again and again, and nothing is lost", Kind,
                   HOCKET_SUITE_KINDS) {
  using S = typename Kind::strength;
  SUBCASE("receives") { expect_ended<Kind, endless_items<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("sends") { expect_ended<Kind, endless_room<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("permits") { expect_ended<Kind, endless_permits<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("an auto-reset event") { expect_ended<Kind, endless_wakes<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("selects") { expect_ended<Kind, endless_choice<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("a mutex") { expect_ended<Kind, endless_lock<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("a monitor") { expect_ended<Kind, endless_entries<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("a barrier for one") { expect_ended<Kind, endless_phases<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("a once") { expect_ended<Kind, endless_turns<S>>(&Kind::cancel, fate::ended); }
  SUBCASE("sleeps of no time") { expect_ended<Kind, endless_short_sleeps>(&Kind::cancel, fate::ended); }
}

// Whoever looks away from its cancellation does not hold its thread: each operation that the budget ends lets others
// run.
TEST_CASE_TEMPLATE("who goes on after a cancel lets others run, too", Kind, HOCKET_SUITE_KINDS) {
  endless_event<typename Kind::strength> source;
  int refused = 0;
  bool over = false;
  Kind world;
  auto goes_on = [&]() -> typename Kind::body {
    for (int i = 0; i < 100 * budget && !over; ++i) {
      auto got = co_await source.wait();
      if (!got) ++refused;
    }
    CHECK(over);
  };
  const int victim = world.start(goes_on);
  auto other = [&]() -> typename Kind::body {
    world.cancel(victim);
    for (int i = 0; i < 3; ++i) co_await hocket::yield();
    over = true;
  };
  world.start(other);
  world.settle();
  CHECK(refused >= 2);
  CHECK(refused <= 4);
}

TEST_CASE_TEMPLATE("a mutex is free while a coroutine whose budget is used up lets others run", Kind,
                   HOCKET_SUITE_KINDS) {
  hocket::basic_mutex<typename Kind::strength> mutex;
  int found_free = 0;
  bool over = false;
  Kind world;
  auto locks = [&]() -> typename Kind::body {
    for (int i = 0; i < 5 * budget; ++i) {
      auto held = co_await mutex.lock();
      CHECK(held.has_value());
    }
    over = true;
  };
  auto looks = [&]() -> typename Kind::body {
    while (!over) {
      found_free += static_cast<bool>(mutex.try_lock());
      co_await hocket::yield();
    }
  };
  world.start(locks);
  world.start(looks);
  world.settle();
  CHECK(found_free >= 4);
}

// The select has the mutex again after each wait: nobody else may find out when it was free.
TEST_CASE_TEMPLATE("a select of a condition does not let others run while it holds the mutex", Kind,
                   HOCKET_SUITE_KINDS) {
  hocket::basic_mutex<typename Kind::strength> mutex;
  hocket::basic_condition<typename Kind::strength> changed;
  hocket::basic_event<typename Kind::strength> bell;
  bell.set();
  int found_taken = 0;
  bool over = false;
  Kind world;
  auto selects = [&]() -> typename Kind::body {
    auto held = co_await mutex.lock();
    for (int i = 0; i < 5 * budget; ++i) {
      auto chosen = co_await select(bell.wait(), changed.wait(*held));
      REQUIRE(chosen.has_value());
      CHECK(chosen->index() == 0);
    }
    held->unlock();
    over = true;
  };
  auto looks = [&]() -> typename Kind::body {
    while (!over) {
      found_taken += !mutex.try_lock();
      co_await hocket::yield();
    }
  };
  world.start(selects);
  world.start(looks);
  world.settle();
  CHECK(found_taken == 0);
}

TEST_CASE_TEMPLATE("a yield tells that its coroutine was cancelled", Kind, HOCKET_SUITE_KINDS) {
  int rounds = 0;
  std::error_code error;
  Kind world;
  auto yields = [&]() -> typename Kind::body {
    for (;; ++rounds) {
      auto went_on = co_await hocket::yield();
      if (went_on) continue;
      error = went_on.error();
      break;
    }
  };
  const int victim = world.start(yields);
  auto other = [&]() -> typename Kind::body {
    for (int i = 0; i < 3; ++i) co_await hocket::yield();
    world.cancel(victim);
  };
  world.start(other);
  world.settle();
  CHECK(error == std::errc::operation_canceled);
  CHECK(rounds >= 2);
  CHECK(rounds <= 4);
}

// A shield keeps the cancel away from the operation that the budget ends, as from any other.
TEST_CASE_TEMPLATE("what ignores a cancel is possible also when the budget is used up", Kind, HOCKET_SUITE_KINDS) {
  endless_permits<typename Kind::strength> source;
  Kind world;
  auto shielded = [&]() -> typename Kind::body {
    for (int i = 0; i < 3 * budget; ++i) {
      auto got = co_await source.wait().ignoring(hocket::stop_level::cancel);
      REQUIRE(got.has_value());
    }
  };
  const int one = world.start(shielded);
  auto other = [&]() -> typename Kind::body {
    world.cancel(one);
    co_return;
  };
  world.start(other);
  world.settle();
  CHECK(world.ended(one) == fate::ended);
}

// What stands around an operation (core/or_throw.hpp) changes nothing.
TEST_CASE_TEMPLATE("an adapted operation spends the budget, too", Kind, HOCKET_SUITE_KINDS) {
  endless_event<typename Kind::strength> source;
  int begun = 0;
  bool ran = false;
  Kind world;
  auto loops = [&]() -> typename Kind::body {
    for (; !ran && begun < 10 * budget; ++begun) co_await hocket::or_throw(source.wait());
  };
  world.start(loops);
  auto other = [&]() -> typename Kind::body {
    ran = true;
    co_return;
  };
  world.start(other);
  world.settle();
  CHECK(begun <= budget);
}

}  // namespace hocket_test
