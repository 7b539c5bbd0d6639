// Allocations of eager and shared tasks: each fails once, and nothing leaks; what is warm allocates nothing.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/task.hpp>

#include "support/alloc.hpp"
#include "unit/coro/queue_executor.hpp"

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

// Fails each allocation of `call` once.
void fail_each(int (*call)(int), int expected) {
  CHECK(call(4) == expected);  // the thread's frame memory is made
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    trim_frame_memory();
    int sum = 0;
    bool thrown = false;
    {
      allocation_watch watch(failing);
      try {
        sum = call(4);
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      failed = watch.has_failed();
    }
    CHECK(thrown == failed);
    CHECK(sum == (failed ? 0 : expected));
    CHECK(counted::live == 0);
  }
  CHECK(failing > 3);
}

}  // namespace

TEST_CASE("every allocation of eager tasks fails once, and nothing leaks") {
  fail_each([](int depth) { return sync_wait(eager_tree(counted{}, depth)); }, 16);
}

TEST_CASE("every allocation of shared tasks fails once, and nothing leaks") { fail_each(&shared_sum, 16); }

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
