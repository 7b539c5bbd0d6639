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
#include <thread>
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

// One fiber on each worker, begun apart. They give up when all have yielded too often (one alone may do so while the
// machine gives another worker no time).
TEST_CASE("fault 9: a computation that forks goes on beside fibers that yield") {
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    CAPTURE(workers);
    std::atomic<std::size_t> begun{0}, gave_up{0};
    std::atomic<bool> over{false};
    hocket::runtime rt({.workers = workers});
    auto turns = [&] {
      ++begun;
      while (begun < workers) std::this_thread::yield();
      for (long yields = 0; !over && gave_up < workers; ++yields) {
        if (yields == most_yields) ++gave_up;
        await(yield());
      }
    };
    std::vector<join_handle<>> fibers;
    for (std::size_t i = 0; i < workers; ++i) fibers.push_back(spawn(rt, turns));
    while (begun < workers) std::this_thread::yield();
    auto computes = [&]() -> task<long> { return fib(20); };
    CHECK(sync_wait(spawn(rt, computes)) == 6765);
    CHECK(gave_up < workers);
    over = true;
    for (auto& one : fibers) sync_wait(std::move(one));
  }
}
