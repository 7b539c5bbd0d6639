// Fault 9: a fiber that yields without end keeps its worker's queue full. What was forked on that worker begins even
// so.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <vector>

using namespace hocket;

namespace {

constexpr long most_yields = 1'000'000;

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

}  // namespace

TEST_CASE("fault 9: a computation that forks goes on beside fibers that yield") {
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    CAPTURE(workers);
    std::atomic<std::size_t> turning{0};
    std::atomic<bool> over{false};
    hocket::runtime rt({.workers = workers});
    auto turns = [&] {
      long yields = 0;
      ++turning;
      while (!over && yields < most_yields) {
        await(yield());
        if (turning == workers) ++yields;
      }
      return yields;
    };
    auto computes = [&]() -> task<long> {
      while (turning < workers) co_await yield();  // now each worker has one, if they began apart
      co_return co_await fib(20);
    };
    std::vector<join_handle<long>> fibers;
    for (std::size_t i = 0; i < workers; ++i) fibers.push_back(spawn(rt, turns));
    CHECK(sync_wait(spawn(rt, computes)) == 6765);
    over = true;
    for (auto& one : fibers) CHECK(sync_wait(std::move(one)) < most_yields);
  }
}
