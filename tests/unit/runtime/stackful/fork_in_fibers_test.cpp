// What fibers fork: the children run on the stacks of workers, and the fiber goes on where it was.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "support/foreign_task.hpp"

using namespace hocket;
using hocket_test::foreign_task;

namespace {

struct chains {
  static constexpr std::size_t stack_size = 1 << 20;
  static inline std::uintptr_t top, deepest;
  static std::uintptr_t here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }
  static void look() {
    const std::uintptr_t at = here();
    if (at < deepest && at > top - stack_size) deepest = at;  // not on the worker's stack
  }
  static task<int> number(int n) { co_return n; }
  static task<int> of_tasks(int depth) {
    look();
    if (depth == 0) co_return 0;
    auto [a, b] = co_await fork_join(of_tasks(depth - 1), number(1));
    co_return a + b;
  }
  static foreign_task outside(int depth) { co_return co_await of_foreign(depth); }
  static task<int> through(int depth) { co_return co_await outside(depth); }
  static foreign_task around(int depth) { co_return co_await of_tasks(depth); }
  static task<int> below_foreign(int depth) { co_return co_await around(depth); }
  static task<int> of_foreign(int depth) {
    look();
    if (depth == 0) co_return 0;
    auto [a, b] = co_await fork_join(through(depth - 1), number(1));
    co_return a + b;
  }
};

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  co_return a + b;
}

}  // namespace

TEST_CASE("a fiber forks a loop whose iterations fork rows of trees") {
  for (const std::size_t workers : std::initializer_list<std::size_t>{1, 2, 4}) {
    CAPTURE(workers);
    runtime rt({.workers = workers});
    constexpr std::size_t rows = 20, columns = 30;
    std::vector<long> sums(rows);
    auto body = [&] {
      const auto row = [&](std::size_t i) -> task<> {
        const std::vector<long> trees =
            co_await fork_each(columns, [](std::size_t k) { return fib(static_cast<int>(k % 10)); });
        sums[i] = std::accumulate(trees.begin(), trees.end(), 0L);
      };
      await(parallel_for(std::size_t{0}, rows, row, std::size_t{1}));
      return std::accumulate(sums.begin(), sums.end(), 0L);
    };
    CHECK(sync_wait(spawn(rt, body)) == 20 * 3 * 88);
  }
}

TEST_CASE("a fiber takes the exception of a child") {
  runtime rt({.workers = 2});
  auto body = [] {
    auto fails = [](std::size_t i) -> task<int> {
      if (i == 3) throw std::runtime_error("three");
      co_return 0;
    };
    try {
      static_cast<void>(await(fork_each(10, fails)));
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(sync_wait(spawn(rt, body)) == "three");
}

TEST_CASE("what an eager body forks takes little of its fiber's stack") {
  for (auto* chain : {&chains::of_tasks, &chains::of_foreign, &chains::below_foreign}) {
    runtime alone({.workers = 1});
    auto used_by = [&](int depth) {
      auto eager = [chain, depth]() -> eager_task<int> { co_return co_await chain(depth); };
      auto body = [&] {
        chains::top = chains::deepest = chains::here();
        CHECK(await(eager()) == depth);
        return chains::top - chains::deepest;
      };
      return sync_wait(spawn(alone, {.stack_size = chains::stack_size}, body));
    };
    CHECK(used_by(5'000) <= 2 * used_by(16));
  }
}
