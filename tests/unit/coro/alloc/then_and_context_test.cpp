// FAULTS 63 for what keeps other things in frames and contexts: then, invoke, context_local, shielded. Each allocation
// fails once: std::bad_alloc comes out of the await or the call, nothing leaks, and the context is what it was.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/invoke.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>

#include "unit/coro/alloc/fail_each.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

context_local<counted> first;
context_local<int> second;

task<int> leaf(counted) {
  co_await yield();
  co_return second.get() ? *second : 1;
}
task<int> continued() {
  auto plain = then(leaf(counted{}), [kept = counted()](int n) { return n + 1; });
  int sum = co_await std::move(plain);
  auto awaiting = then(leaf(counted{}), [kept = counted()](int n) -> task<int> { co_return n + co_await leaf(kept); });
  sum += co_await std::move(awaiting);
  auto called = invoke([kept = counted()](counted more) -> task<int> { co_return co_await leaf(more); }, counted{});
  co_return sum + co_await std::move(called);
}
task<int> surrounded() {
  auto bound = first.with(counted{}, second.with(7, continued()));
  int sum = co_await std::move(bound);
  auto cleanup = shielded([kept = counted()]() -> task<int> { co_return co_await leaf(kept); });
  sum += co_await std::move(cleanup);
  sum += second.with(5, [] { return first.with(counted{}, [] { return *second; }); });
  auto both = when_all(shielded(leaf(counted{})), second.with(2, leaf(counted{})));
  auto [one, two] = co_await std::move(both);
  co_return sum + one + two;
}

}  // namespace

TEST_CASE("fault 63: every allocation of then, invoke, context_local and shielded fails once, and nothing leaks") {
  auto call = [] {
    REQUIRE_FALSE(first.get());  // left behind by a failure
    return sync_wait(surrounded());
  };
  fail_each_allocation(call, 8 + 14 + 7 + 1 + 5 + 1 + 2, 12);
}
