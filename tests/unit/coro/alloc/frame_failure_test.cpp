// No memory for a frame: std::bad_alloc leaves the coroutine function, and nothing leaks.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/task.hpp>

#include "unit/coro/alloc/fail_each.hpp"

#include <doctest/doctest.h>
#include <memory>

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

task<result<int>> returns(counted, int depth) {
  counted local;
  if (depth == 0) co_return 1;
  co_return 1 + co_await or_return(returns(counted{}, depth - 1));
}
task<int> propagates(counted, int depth) {
  counted local;
  if (depth == 0) co_return 1;
  co_return 1 + co_await propagates(counted{}, depth - 1).propagate();
}
// An exception that passes tasks, each with parameters and locals. Whatever fails on the way, this exception
// arrives.
task<int> throws(counted, int depth) {
  counted local;
  if (depth == 0) throw depth;
  co_return 1 + co_await throws(counted{}, depth - 1);
}
task<int> catches(counted, int depth) {
  try {
    co_await throws(counted{}, depth);
  } catch (int) {
    co_return 7;
  }
  co_return 0;
}
// With a state, so that the allocator is kept behind the frame.
template <class T>
struct heap : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = heap<U>;
  };
  using is_always_equal = std::false_type;
  heap() = default;
  template <class U>
  heap(const heap<U>&) {}
};
task<int> from_allocator(std::allocator_arg_t, heap<std::byte> of, counted, int depth) {
  counted local;
  if (depth == 0) co_return 1;
  co_return 1 + co_await from_allocator(std::allocator_arg, of, counted{}, depth - 1);
}

}  // namespace

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

TEST_CASE("fault 63: every allocation of a tree of tasks fails once, and nothing leaks") {
  fail_each_allocation([] { return sync_wait(tree(counted{}, 4)); }, 16, 5);
}

TEST_CASE("fault 63: every allocation of nested and of asynchronous generators fails once, and nothing leaks") {
  fail_each_allocation([] { return sum_of(nest(counted{}, 4)) + sync_wait(sum_of(leaves(counted{}, 5))); }, 10, 5);
}

TEST_CASE("fault 63: every allocation of ends without going on fails once, and nothing leaks") {
  fail_each_allocation([] { return *sync_wait(returns(counted{}, 4)) + sync_wait(propagates(counted{}, 4)); }, 10, 10);
}

// Where there is no memory to keep an exception apart from the frame of its task, the frame keeps it.
TEST_CASE("fault 63: an exception passes tasks while every allocation fails once, and nothing leaks") {
  CHECK(sync_wait(catches(counted{}, 4)) == 7);
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    trim_frame_memory();
    int given = 0;
    {
      allocation_watch watch(failing);
      try {
        given = sync_wait(catches(counted{}, 4));
      } catch (const std::bad_alloc&) {
        given = -1;
      }
      failed = watch.has_failed();
    }
    CHECK((given == 7 || (failed && given == -1)));
    CHECK(counted::live == 0);
  }
  CHECK(failing > 6);
}

TEST_CASE("fault 63: every frame from an allocator fails once, and nothing leaks") {
  fail_each_allocation([] { return sync_wait(from_allocator(std::allocator_arg, {}, counted{}, 4)); }, 5, 5);
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
  // The root of sync_wait is not a task: its frame is on the heap.
  CHECK(allocations <= 1);
  CHECK(releases <= 1);
}
