// No memory for a frame: std::bad_alloc comes out of the coroutine function, and nothing leaks.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_all.hpp>

#include "support/alloc.hpp"
#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

task<int> leaf(counted, int n) { co_return n; }
task<int> tree(counted, int depth) {
  counted local;
  if (depth == 0) co_return co_await leaf(counted{}, 1);
  int left = co_await tree(counted{}, depth - 1);
  co_return left + co_await tree(counted{}, depth - 1);
}
// Out of line: else Clang may put the frame into the caller's and allocate nothing.
[[gnu::noinline]] generator<int> numbers(counted) { co_yield 1; }

generator<int> nest(counted, int depth) {
  counted local;
  co_yield 1;
  if (depth > 0) co_yield elements_of(nest(counted{}, depth - 1));
}
async_generator<int> leaves(counted, int n) {
  counted local;
  for (int i = 0; i < n; ++i) {
    int value = co_await leaf(counted{}, 1);
    co_yield std::move(value);
  }
}
task<int> sum_of(async_generator<int> all) {
  int sum = 0;
  while (int* n = co_await all.next()) sum += *n;
  co_return sum;
}
int sum_of(generator<int> all) {
  int sum = 0;
  for (int n : all) sum += n;
  return sum;
}

}  // namespace

// doctest allocates as well: nothing is checked while a watch is on.
TEST_CASE("a frame that cannot be had is std::bad_alloc in the caller") {
  for (int n : numbers(counted{})) CHECK(n == 1);  // the thread's frame memory is made
  trim_frame_memory();
  bool thrown = false;
  {
    allocation_watch watch(1);
    try {
      static_cast<void>(numbers(counted{}));
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
  }
  CHECK(thrown);
  CHECK(counted::live == 0);
}

TEST_CASE("every allocation of a tree of tasks fails once, and nothing leaks") {
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    trim_frame_memory();
    int sum = 0;
    bool thrown = false;
    {
      allocation_watch watch(failing);
      try {
        sum = sync_wait(tree(counted{}, 4));
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      failed = watch.has_failed();
    }
    CHECK(thrown == failed);
    CHECK(sum == (failed ? 0 : 16));
    CHECK(counted::live == 0);
  }
  CHECK(failing > 5);
}

TEST_CASE("every allocation of nested and of asynchronous generators fails once, and nothing leaks") {
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    trim_frame_memory();
    int sum = 0;
    bool thrown = false;
    {
      allocation_watch watch(failing);
      try {
        sum += sum_of(nest(counted{}, 4));
        sum += sync_wait(sum_of(leaves(counted{}, 5)));
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      failed = watch.has_failed();
    }
    CHECK(thrown == failed);
    CHECK((failed || sum == 10));
    CHECK(counted::live == 0);
  }
  CHECK(failing > 5);
}

TEST_CASE("a warm tree of tasks allocates nothing") {
  if (!detail::recycles_frames) return;
  CHECK(sync_wait(tree(counted{}, 4)) == 16);
  std::size_t allocations = 0, releases = 0;
  {
    allocation_watch watch;
    static_cast<void>(sync_wait(tree(counted{}, 4)));
    allocations = watch.allocations();
    releases = watch.releases();
  }
  // The root of sync_wait is not a task: its frame comes from the heap.
  CHECK(allocations <= 1);
  CHECK(releases <= 1);
}

TEST_CASE("every allocation of a group fails once, and nothing leaks") {
  auto grow = []() -> task<int> {
    std::vector<task<int>> all;
    all.reserve(8);
    for (int i = 0; i < 8; ++i) all.push_back(tree(counted{}, 2));
    int sum = 0;
    for (int one : co_await when_all(std::move(all))) sum += one;
    co_return sum;
  };
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    trim_frame_memory();
    int sum = 0;
    bool thrown = false;
    {
      allocation_watch watch(failing);
      try {
        sum = sync_wait(grow());
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      failed = watch.has_failed();
    }
    CHECK(thrown == failed);
    if (!failed) CHECK(sum == 32);
    CHECK(counted::live == 0);
  }
  CHECK(failing > 10);
}
