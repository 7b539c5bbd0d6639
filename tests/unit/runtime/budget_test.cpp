// The budget of operations that are possible at once (core/wait/seam/budget.hpp), beside the suite
// (suites/budget.hpp): kinds of operation that cannot be awaited again and again, and code that spends it and goes on.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/interval.hpp>
#include <hocket/time/within.hpp>

#include "support/runtime_look.hpp"
#include "unit/core/script.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <utility>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr int budget = 256, more_than_budget = 1000;

// How many of `all` are awaited before a coroutine that was spawned later runs.
template <class T, class Begin>
int awaited_first(std::vector<T>& all, Begin begin) {
  int awaited = 0, before = more_than_budget;
  loop lp;
  auto awaits = [&]() -> task<> {
    for (T& one : all) {
      auto got = co_await begin(one);
      CHECK(got.has_value());
      ++awaited;
    }
  };
  auto other = [&]() -> task<> {
    before = awaited;
    co_return;
  };
  spawn(lp, awaits);
  spawn(lp, other);
  lp.run();
  CHECK(awaited == more_than_budget);
  return before;
}

task<> await_again_and_again(event& is_set, int& times) {
  for (int i = 0; i < more_than_budget; ++i) {
    auto seen = co_await is_set.wait();
    CHECK(seen.has_value());
    ++times;
  }
}

}  // namespace

TEST_CASE("joins of coroutines that have ended spend the budget") {
  loop lp;
  std::vector<join_handle<>> all;
  auto nothing = []() -> task<> { co_return; };
  for (int i = 0; i < more_than_budget; ++i) all.push_back(spawn(lp, nothing));
  lp.run();
  CHECK(awaited_first(all, [](join_handle<>& one) { return one.join(); }) <= budget);
}

TEST_CASE("receives of oneshots that have a value spend the budget") {
  std::vector<oneshot_receiver<int>> all;
  for (int i = 0; i < more_than_budget; ++i) {
    auto [sender, receiver] = make_oneshot<int>();
    CHECK(sender.send(i));
    all.push_back(std::move(receiver));
  }
  CHECK(awaited_first(all, [](oneshot_receiver<int>& one) { return one.receive(); }) <= budget);
}

TEST_CASE("who has to wait now and then never goes through the queue for the budget") {
  event is_set(true);
  auto_reset_event bell;
  bool asks = false, over = false;
  int turns_of_other = 0, interrupted = 0;
  auto works = [&]() -> task<> {
    for (int round = 0; round < 10; ++round) {
      const int before = turns_of_other;
      for (int i = 0; i < budget - 56; ++i) co_await or_throw(is_set.wait());
      interrupted += turns_of_other != before;
      asks = true;
      co_await or_throw(bell.wait());
    }
    over = true;
  };
  auto other = [&]() -> task<> {
    while (!over) {
      if (std::exchange(asks, false)) bell.set();
      co_await yield();
      ++turns_of_other;
    }
  };
  manual_clock time;
  loop lp({.clock = &time});
  detail::refill_budget(detail::this_thread());
  spawn(lp, works);
  spawn(lp, other);
  lp.run();
  CHECK(interrupted == 0);
}

TEST_CASE("an eager body whose operations are possible ends on its caller's stack") {
  event is_set(true);
  loop lp;
  auto body = [&]() -> eager_task<int> {
    int times = 0;
    co_await await_again_and_again(is_set, times);
    co_return times;
  };
  auto calls = [&]() -> task<> {
    auto begun = body();
    CHECK(begun.await_ready());
    const int times = co_await std::move(begun);
    CHECK(times == more_than_budget);
  };
  spawn(lp, calls);
  lp.run();
}

TEST_CASE("what is possible needs no executor") {
  event is_set(true);
  for (int i = 0; i < more_than_budget; ++i) REQUIRE(sync_wait(is_set.wait()).has_value());
  int times = 0;
  auto by_hand = [](event& what, int& count) -> script { co_await await_again_and_again(what, count); }(is_set, times);
  by_hand.handle().resume();
  CHECK(by_hand.done());
  CHECK(times == more_than_budget);
}

TEST_CASE("what a task of a plain thread finds possible lets the others of that thread run") {
  event is_set(true);
  int times = 0;
  sync_wait(await_again_and_again(is_set, times));
  CHECK(times == more_than_budget);
}

TEST_CASE("a deadline ends a loop over what is possible, and the clock is looked at once in a budget") {
  manual_clock time;
  loop lp({.clock = &time});
  event is_set(true);
  int awaited = 0, awaited_before = 0;
  std::error_code error;
  auto loops = [&]() -> task<> {
    for (;; ++awaited) {
      auto seen = co_await is_set.wait();
      if (seen) continue;
      error = seen.error();
      break;
    }
  };
  auto lets_time_pass = [&]() -> task<> {
    awaited_before = awaited;
    time.advance(5ms);
    co_return;
  };
  spawn(lp, {.within = 5ms}, loops);
  spawn(lp, lets_time_pass);
  lp.run();
  CHECK(error == std::errc::timed_out);
  CHECK(awaited == awaited_before);
}

TEST_CASE("a time point of the wait's own ends a loop over what is possible, a duration does not") {
  manual_clock time;
  loop lp({.clock = &time});
  event is_set(true);
  int awaited = 0;
  auto loops = [&]() -> task<> {
    const time_point passed = time.now();
    time.advance(1ms);
    for (int i = 0; i < more_than_budget; ++i) {
      auto seen = co_await within(0ms, is_set.wait());
      CHECK(seen.has_value());
    }
    detail::refill_budget(detail::this_thread());
    for (;; ++awaited) {
      auto seen = co_await within(passed, is_set.wait());
      if (!seen) {
        CHECK(seen.error() == std::errc::timed_out);
        break;
      }
    }
  };
  spawn(lp, loops);
  lp.run();
  CHECK(awaited == budget - 1);
}

TEST_CASE("a burst of late ticks lets others run") {
  manual_clock time;
  loop lp({.clock = &time});
  int ticks = 0, ticks_before = more_than_budget;
  auto late = [&]() -> task<> {
    interval every(time.now(), 1ms, missed_ticks::burst);
    time.advance(more_than_budget * 1ms);
    for (; ticks < more_than_budget; ++ticks) co_await or_throw(every.tick());
  };
  auto other = [&]() -> task<> {
    ticks_before = ticks;
    co_return;
  };
  spawn(lp, late);
  spawn(lp, other);
  lp.run();
  CHECK(ticks == more_than_budget);
  CHECK(ticks_before <= budget);
}

namespace {

// How many of its operations a coroutine awaits on `where`, until one that was spawned later runs. In its turn it first
// calls pass().
template <class Where, class Pass>
int awaited_until_others_run(Where& where, Pass pass) {
  event is_set(true);
  std::atomic<int> awaited{0}, before{-1};
  auto loops = [&]() -> task<> {
    pass();
    for (; awaited < more_than_budget && before < 0; ++awaited) co_await or_throw(is_set.wait());
  };
  auto other = [&]() -> task<> {
    before = awaited.load();
    co_return;
  };
  auto start = [&]() -> task<> {  // both in one turn, on one thread
    auto first = spawn(where, loops);
    auto second = spawn(where, other);
    co_await or_throw(first.join());
    co_await or_throw(second.join());
  };
  auto ended = spawn(where, start);
  if constexpr (std::is_same_v<Where, loop>) where.run_until(ended);
  else CHECK(sync_wait(ended.join()).has_value());
  return before;
}

}  // namespace

TEST_CASE("a turn that has taken its time on a loop ends after 32 operations, by the machine's clock alone") {
  const auto pass = [] { detail::this_thread().budget_end = 1; };
  loop lp;
  CHECK(awaited_until_others_run(lp, pass) <= 32);
  runtime alone({.workers = 1});
  CHECK(awaited_until_others_run(alone, pass) <= 32);
}

TEST_CASE("the watch ends the budget of a worker that it finds in one turn again") {
  runtime rt({.workers = 2});
  detail::worker_at first(rt, 0);
  const auto pass = [&] {
    for (int i = 0; i < 2; ++i) detail::runtime_look::watch(rt);
  };
  CHECK(awaited_until_others_run(first, pass) <= 1);
}

namespace {

// Always possible, at sixteen times the price.
struct dear {
  using value_type = void;
  static constexpr std::uint8_t price = 16;
  bool try_now() noexcept { return true; }
  void begin(primitive::suspension&, primitive::waiter&) noexcept {}
  result<void> take() noexcept { return {}; }
};

}  // namespace

TEST_CASE("an operation spends the price that it states") {
  loop lp;
  int awaited = 0, awaited_before = more_than_budget;
  auto loops = [&]() -> task<> {
    for (; awaited < more_than_budget; ++awaited) co_await or_throw(primitive::operation<dear>(dear{}));
  };
  auto other = [&]() -> task<> {
    awaited_before = awaited;
    co_return;
  };
  spawn(lp, loops);
  spawn(lp, other);
  lp.run();
  CHECK(awaited == more_than_budget);
  CHECK(awaited_before <= budget / 16);
}
