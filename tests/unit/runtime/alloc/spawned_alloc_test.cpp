// FAULTS 63 for tasks on a loop: spawn, scope, join, timers, groups, oneshot. Each allocation fails once: the failure
// comes out of the spawn or the await, the loop ends, and nothing leaks.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/alloc.hpp"
#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <functional>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

context_local<counted> on_behalf;

task<int> sends_late(oneshot_sender<int> to, counted) {
  counted local;
  co_await yield();
  to.send(7);
  co_return 1;
}
task<int> children(counted, int depth) {
  counted local;
  if (depth == 0) co_return 1;
  auto body = [depth](scope& all) -> task<int> {
    auto left = spawn(all, {.name = "left"}, children, counted{}, depth - 1);
    auto right = spawn(all, children, counted{}, depth - 1);
    auto both = when_all(left, within(1h, right));
    auto [a, b] = co_await or_throw(std::move(both));
    co_return a + b;
  };
  co_return co_await in_scope(body);
}
shared_task<int> shared(counted) {
  co_await yield();
  co_return 2;
}
task<int> everything(counted) {
  auto [tx, rx] = make_oneshot<int>();
  auto sender = spawn(sends_late, std::move(tx), counted{});
  const int got = co_await or_throw(within(1h, rx.receive()));  // broken_pipe, if it is the sender that fails
  auto body = shared(counted{});
  auto first = when_any(children(counted{}, 2), children(counted{}, 1));
  auto won = co_await std::move(first);
  auto bound = on_behalf.with(counted{}, children(counted{}, 2));
  const int four = co_await std::move(bound);
  co_return got + co_await body + four + (won.index() < 2) + co_await sender;
}

// The result; -1: it has failed.
int run_everything(const manual_clock& clock) {
  try {
    // Children that fail while their parent does are received by nobody.
    loop lp({.clock = &clock, .on_unhandled = [](std::exception_ptr, const context&) noexcept {}});
    auto root = spawn(lp, everything, counted{});
    lp.run();
    return sync_wait(root);
  } catch (const std::exception&) {
    return -1;
  }
}

}  // namespace

TEST_CASE("fault 63: every allocation of a loop and its tasks fails once, and nothing leaks") {
  manual_clock clock;
  CHECK(run_everything(clock) == 7 + 2 + 4 + 1 + 1);
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    trim_frame_memory();
    int sum = 0;
    {
      allocation_watch watch(failing);
      sum = run_everything(clock);
      failed = watch.has_failed();
    }
    CHECK((sum == 15 || (failed && sum == -1)));  // what a loser of when_any fails of is not asked for
    CHECK(counted::live == 0);
  }
  CHECK(failing > 15);
}
