// The once, for every kind.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <stdexcept>
#include <vector>

namespace hocket_test {

template <class Kind>
using once_of = hocket::basic_once<typename Kind::strength>;

TEST_CASE_TEMPLATE("the first who enters does the work, the others wait for it and see it", Kind, HOCKET_SUITE_KINDS) {
  once_of<Kind> once;
  hocket::basic_event<typename Kind::strength> go;
  std::atomic<int> turns{0}, through{0};
  int made = 0;
  Kind world;
  auto enter = [&]() -> typename Kind::body {
    auto turn = co_await once.enter();
    CHECK(turn.has_value());
    if (*turn) {
      ++turns;
      auto set = co_await go.wait();
      CHECK(set.has_value());
      made = 7;
      turn->done();
      CHECK_FALSE(*turn);
    }
    CHECK(made == 7);
    ++through;
  };
  for (int i = 0; i < 5; ++i) world.start(enter);
  world.settle();
  CHECK(turns == 1);
  CHECK(through == 0);
  CHECK_FALSE(once.is_done());
  go.set();
  world.settle();
  CHECK(once.is_done());
  CHECK(through == 5);
  world.start(enter);
  world.settle();
  CHECK(through == 6);
  CHECK(turns == 1);
}

TEST_CASE_TEMPLATE("a turn that fails or throws goes to the next in line, until the work is done", Kind,
                   HOCKET_SUITE_KINDS) {
  once_of<Kind> once;
  hocket::basic_event<typename Kind::strength> go;
  std::vector<int> order;
  std::atomic<int> through{0};
  Kind world;
  auto enter = [&](int n) -> typename Kind::body {
    try {
      auto turn = co_await once.enter();
      if (*turn) {
        order.push_back(n);
        auto set = co_await go.wait();
        CHECK(set.has_value());
        if (n == 1) throw std::runtime_error("no luck");
        if (n == 2) co_return;
        turn->done();
      }
      ++through;
    } catch (const std::runtime_error&) {
    }
  };
  for (int n : {1, 2, 3, 4, 5}) world.start(enter, n);
  world.settle();
  CHECK(order == std::vector{1});
  go.set();
  world.settle();
  CHECK(order == std::vector{1, 2, 3});
  CHECK(through == 3);
  CHECK(once.is_done());
}

TEST_CASE_TEMPLATE("who is killed or cancelled at the work passes the turn on", Kind, HOCKET_SUITE_KINDS) {
  once_of<Kind> once;
  hocket::basic_event<typename Kind::strength> never;
  std::vector<int> order;
  Kind world;
  auto enter = [&](int n) -> typename Kind::body {
    auto turn = co_await once.enter();
    if (!turn || !*turn) co_return;
    order.push_back(n);
    auto got = co_await never.wait();
    if (got) turn->done();
  };
  int killed = world.start(enter, 1);
  int cancelled = world.start(enter, 2);
  int last = world.start(enter, 3);
  world.settle();
  world.kill(killed);
  world.settle();
  CHECK(world.ended(killed) == fate::killed);
  CHECK(order == std::vector{1, 2});
  world.cancel(cancelled);
  world.settle();
  CHECK(world.ended(cancelled) == fate::ended);
  CHECK(order == std::vector{1, 2, 3});
  world.kill(last);
  world.settle();
  CHECK_FALSE(once.is_done());
  world.start(enter, 4);
  never.set();
  world.settle();
  CHECK(order == std::vector{1, 2, 3, 4});
  CHECK(once.is_done());
}

TEST_CASE_TEMPLATE("a wait for the turn is cancelled, timed and killed alone", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  once_of<Kind> once;
  hocket::basic_event<typename Kind::strength> go;
  std::vector<std::error_code> ends(5);
  std::atomic<int> through{0};
  Kind world;
  auto enter = [&](std::size_t n, hocket::duration limit) -> typename Kind::body {
    auto turn = co_await within(limit, once.enter());
    if (!turn) {
      ends[n] = turn.error();
      co_return;
    }
    if (*turn) {
      (void)co_await go.wait();
      turn->done();
    }
    ++through;
  };
  world.start(enter, 0u, hocket::duration::max());
  world.settle();
  int cancelled = world.start(enter, 1u, hocket::duration::max());
  int late = world.start(enter, 2u, hocket::duration(5ms));
  int killed = world.start(enter, 3u, hocket::duration(1s));
  world.start(enter, 4u, hocket::duration::max());
  world.settle();
  world.cancel(cancelled);
  world.kill(killed);
  world.pass(5ms);
  CHECK(ends[1] == std::errc::operation_canceled);
  CHECK(ends[2] == std::errc::timed_out);
  CHECK(world.ended(late) == fate::ended);
  CHECK(world.ended(killed) == fate::killed);
  CHECK(through == 0);
  go.set();
  world.settle();
  CHECK(through == 2);
  CHECK_FALSE(ends[4]);
}

TEST_CASE_TEMPLATE("fault 12: a turn granted to one who is killed before it runs is not lost", Kind,
                   HOCKET_SUITE_KINDS) {
  once_of<Kind> once;
  hocket::basic_event<typename Kind::strength> never, go;
  int victim = -1;
  std::atomic<bool> done{false};
  Kind world;
  auto fail = [&]() -> typename Kind::body {
    {
      auto turn = co_await once.enter();
      auto set = co_await go.wait();
      CHECK(set.has_value());
      CHECK(static_cast<bool>(*turn));
    }
    world.kill(victim);
  };
  auto suffer = [&]() -> typename Kind::body {
    auto turn = co_await once.enter();
    (void)co_await never.wait();
  };
  auto succeed = [&]() -> typename Kind::body {
    auto turn = co_await once.enter();
    if (!turn || !*turn) co_return;
    turn->done();
    done = true;
  };
  world.start(fail);
  victim = world.start(suffer);
  world.start(succeed);
  world.settle();
  go.set();
  world.settle();
  CHECK(world.ended(victim) == fate::killed);
  CHECK(done);
  CHECK(once.is_done());
}

TEST_CASE_TEMPLATE("a once stands in a select, and gives a turn that was not chosen to the next", Kind,
                   HOCKET_SUITE_KINDS) {
  once_of<Kind> once;
  hocket::basic_event<typename Kind::strength> bell, go;
  std::optional<std::size_t> chosen;
  Kind world;
  auto hold = [&]() -> typename Kind::body {
    auto turn = co_await once.enter();
    auto set = co_await go.wait();
    CHECK(set.has_value());
  };
  auto choose = [&]() -> typename Kind::body {
    auto got = co_await select(once.enter(), bell.wait());
    chosen = got->index();
  };
  auto last = [&]() -> typename Kind::body {
    auto turn = co_await once.enter();
    turn->done();
  };
  world.start(hold);
  world.settle();
  world.start(choose);
  world.settle();
  world.start(last);
  world.settle();
  bell.set();
  world.settle();
  CHECK(chosen == 1u);
  go.set();
  world.settle();
  CHECK(once.is_done());
}

}  // namespace hocket_test
