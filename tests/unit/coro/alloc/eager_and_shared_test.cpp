// Allocations of eager and shared tasks: each fails once, and nothing leaks; what is warm allocates nothing.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/task.hpp>

#include "unit/coro/alloc/fail_each.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

eager_task<int> eager_tree(counted, int depth) {
  counted local;
  if (depth == 0) co_return 1;
  auto left = eager_tree(counted{}, depth - 1);
  auto right = eager_tree(counted{}, depth - 1);
  const int sum = co_await std::move(left);
  co_return sum + co_await std::move(right);
}
shared_task<int> shared_tree(counted, int depth) {
  counted local;
  if (depth == 0) co_return 1;
  auto both = shared_tree(counted{}, depth - 1);
  const int sum = co_await both;
  co_return sum + co_await both;
}
int shared_sum(int depth) {
  auto root = shared_tree(counted{}, depth);
  return sync_wait(root);
}

}  // namespace

TEST_CASE("every allocation of eager tasks fails once, and nothing leaks") {
  fail_each_allocation([] { return sync_wait(eager_tree(counted{}, 4)); }, 16, 3);
}

TEST_CASE("every allocation of shared tasks fails once, and nothing leaks") {
  fail_each_allocation([] { return shared_sum(4); }, 16, 3);
}

TEST_CASE("warm eager and shared tasks, and their waits, allocate nothing") {
  if (!detail::recycles_frames) return;
  std::size_t eager = 0, shared = 0;
  for (int i = 0; i < 2; ++i) {
    {
      allocation_watch watch;
      static_cast<void>(sync_wait(eager_tree(counted{}, 4)));
      eager = watch.allocations();
    }
    {
      allocation_watch watch;
      static_cast<void>(shared_sum(4));
      shared = watch.allocations();
    }
  }
  CHECK(eager == 0);
  CHECK(shared == 0);
}
