// How long computations of forks keep their worker, and its stack.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include <atomic>
#include <coroutine>
#include <doctest/doctest.h>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/foreign_task.hpp"

using namespace hocket;
using hocket_test::foreign_task;

namespace {

task<> nothing() { co_return; }
task<int> number(int n) { co_return n; }

// Runs by itself, and nobody waits for it.
struct by_hand {
  struct promise_type {
    static by_hand get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() noexcept { std::terminate(); }
  };
};
by_hand drive(task<int> body, int& result) { result = co_await std::move(body); }

// Computations of 2 to the power of `depth` leaves.
std::atomic<int> leaves;
struct trees {
  static task<int> leaf(std::size_t) {
    ++leaves;
    co_return 1;
  }
  static task<int> of_tasks(int depth) {
    if (depth == 0) co_return co_await leaf(0);
    auto [a, b] = co_await fork_join(of_tasks(depth - 1), of_tasks(depth - 1));
    co_return a + b;
  }
  static task<int> of_callables(int depth) {
    if (depth == 0) co_return co_await leaf(0);
    auto [a, b] = co_await fork_join([&] { return of_callables(depth - 1); }, [&] { return of_callables(depth - 1); });
    co_return a + b;
  }
  static task<int> of_each(int depth) {
    if (depth == 0) co_return co_await leaf(0);
    int sums[2];
    co_await fork_each(2, [&](std::size_t) { return of_each(depth - 1); }, sums);
    co_return sums[0] + sums[1];
  }
  static task<int> row(int depth) {
    const auto all = co_await fork_each(std::size_t{1} << depth, leaf);
    co_return static_cast<int>(all.size());
  }
  static task<int> vector(int depth) {
    std::vector<task<int>> all;
    for (std::size_t i = 0; i < std::size_t{1} << depth; ++i) all.push_back(leaf(i));
    const auto got = co_await fork_join(std::move(all));
    co_return static_cast<int>(got.size());
  }
  static task<int> loop(int depth) {
    auto body = [](std::size_t i) -> task<> { static_cast<void>(co_await leaf(i)); };
    co_await parallel_for(std::size_t{0}, std::size_t{1} << depth, body, std::size_t{1});
    co_return 1 << depth;
  }
};

}  // namespace

TEST_SUITE_BEGIN("runtime/fork turns");

TEST_CASE("computations of many groups let the other coroutines of their worker run") {
  constexpr int depth = 14, limit = 4'000;
  std::atomic<int> others_at;
  for (auto* tree :
       {&trees::of_tasks, &trees::of_callables, &trees::of_each, &trees::row, &trees::vector, &trees::loop}) {
    leaves = 0;
    others_at = -1;
    runtime alone({.workers = 1});
    auto inside = [&]() -> task<int> {
      const int got = co_await tree(depth);  // the counts of this thread are somewhere
      const int begun = leaves;
      spawn([&, begun]() -> task<> {
        others_at = leaves - begun;
        co_return;
      });
      co_return got + co_await tree(depth);
    };
    const int got = sync_wait(spawn(alone, [&]() -> task<int> {
      auto [a, b] = co_await fork_join(inside(), number(0));
      co_return a + b;
    }));
    CHECK(got == 2 << depth);
    CHECK(others_at.load() >= 0);
    CHECK(others_at.load() <= limit);
  }
}

TEST_CASE("groups with foreign coroutines between them go as deep as others") {
  struct alternating {
    static foreign_task outside(int depth) { co_return co_await inside(depth); }
    static task<int> through(int depth) { co_return co_await outside(depth); }
    static task<int> inside(int depth) {
      if (depth == 0) co_return 0;
      auto [a, b] = co_await fork_join(through(depth - 1), number(1));
      co_return a + b;
    }
  };
  runtime alone({.workers = 1});
  constexpr int depth = 20'000;
  CHECK(sync_wait(spawn(alone, [&]() -> task<int> { return alternating::inside(depth); })) == depth);
}

TEST_CASE("a chain that is driven by hand forks in a loop") {
  auto loops = [](int times) -> task<int> {
    int sum = 0;
    for (int i = 0; i < times; ++i) {
      auto [a, b] = co_await fork_join(number(1), number(2));
      sum += a + b;
    }
    co_return sum;
  };
  int result = 0;
  constexpr int times = 200'000;
  drive(loops(times), result);
  CHECK(result == 3 * times);
}

TEST_CASE("a loop of groups that cannot make their children leaves no frames behind") {
  auto fails = []() -> task<int> { return throw std::runtime_error("no"), number(0); };
  auto loops = [&]() -> task<int> {
    int failed = 0;
    for (int i = 0; i < 300'000; ++i) {
      try {
        static_cast<void>(co_await fork_join(fails, fails));
      } catch (const std::runtime_error&) {
        ++failed;
      }
    }
    co_return failed;
  };
  loop lp;
  auto on_loop = spawn(lp, loops);
  lp.run();
  CHECK(sync_wait(std::move(on_loop)) == 300'000);
  runtime alone({.workers = 1});
  CHECK(sync_wait(spawn(alone, loops)) == 300'000);
  CHECK(sync_wait(loops()) == 300'000);
}

TEST_CASE("a loop of groups lets the other coroutines of its worker run") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    runtime alone({.workers = 1});
    std::atomic<bool> other{false};
    auto child = [fails]() -> task<> {
      if (fails) throw std::runtime_error("no");
      co_return;
    };
    auto loops = [&]() -> task<bool> {
      spawn([&]() -> task<> {
        other = true;
        co_return;
      });
      for (int i = 0; i < 10'000 && !other; ++i) {
        try {
          co_await fork_join(child(), child());
        } catch (const std::runtime_error&) {
        }
      }
      co_return other;
    };
    auto body = [&]() -> task<bool> {
      auto [yes, none] = co_await fork_join(loops(), nothing());
      co_return yes;
    };
    CHECK(sync_wait(spawn(alone, body)));
  }
}

TEST_SUITE_END();
