#include <hocket/context/detail/platform/annotation.hpp>
#include <hocket/stack/stack_pool.hpp>

#include "stack/memory.hpp"
#include "support/death.hpp"

#include "unit/stack/many.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <set>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// How a child process ends that writes to `address`.
bool write_faults(std::byte* address) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    *static_cast<volatile std::byte*>(address) = std::byte{1};
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace

TEST_CASE("a stack is usable from its low end to its top, and has the size that was asked for") {
  for (std::size_t size : {std::size_t{4096}, std::size_t{16384}, std::size_t{65536}, std::size_t{2} << 20}) {
    stack_pool pool({.stack_size = size});
    stack_ref stack = pool.acquire().value();
    CHECK(stack.size() >= size);
    CHECK(reinterpret_cast<std::uintptr_t>(stack.top) % 64 == 0);
    std::memset(stack.low, 0x5a, stack.size());
    pool.release(stack);
  }
}

TEST_CASE("the page below a stack is a guard") {
  stack_pool pool({.stack_size = 16384});
  auto stacks = acquire(pool, 3);
  for (const stack_ref& stack : stacks) {
    CHECK_FALSE(stack.canary);
    CHECK(write_faults(stack.low - 1));
    CHECK(write_faults(stack.low - 4096));
    CHECK_FALSE(write_faults(stack.low));  // the control: the probe itself does not fault
  }
  release(pool, stacks);
}

TEST_CASE("sizes: odd ones are rounded up, 0 and absurd ones are errors that say what to do") {
  stack_pool odd({.stack_size = 10001});
  CHECK(odd.options().stack_size == 16384);
  stack_pool tiny({.stack_size = 1});
  CHECK(tiny.options().stack_size == stack_pool::minimum_size);
  CHECK_THROWS_WITH_AS(stack_pool({.stack_size = 0}), doctest::Contains("stack_size is 0"), std::system_error);
  CHECK_THROWS_WITH_AS(stack_pool({.stack_size = std::size_t{4} << 40}), doctest::Contains("given in bytes"),
                       std::system_error);
}

TEST_CASE("the pool is last in, first out, and counts") {
  stack_pool pool({.stack_size = 16384});
  stack_ref a = pool.acquire().value();
  stack_ref b = pool.acquire().value();
  CHECK(pool.statistics().live == 2);
  CHECK(pool.statistics().fresh == 2);
  pool.release(a);
  pool.release(b);
  CHECK(pool.statistics().pooled == 2);
  CHECK(pool.acquire().value().cell == b.cell);
  CHECK(pool.acquire().value().cell == a.cell);
  stack_statistics counts = pool.statistics();
  CHECK(counts.live == 2);
  CHECK(counts.peak == 2);
  CHECK(counts.warm == 2);
  CHECK(counts.fresh == 2);
  CHECK(counts.slabs == 1);
  CHECK(counts.unguarded == 0);
  pool.release(a);
  pool.release(b);
}

TEST_CASE("a limit is an error at the limit, and no longer when a stack comes back") {
  stack_pool pool({.stack_size = 16384, .limit = 2});
  auto stacks = acquire(pool, 2);
  CHECK(pool.acquire().error() == std::errc::resource_unavailable_try_again);
  pool.release(stacks.back());
  stack_ref again = pool.acquire().value();
  CHECK(pool.acquire().error() == std::errc::resource_unavailable_try_again);
  pool.release(stacks.front());
  pool.release(again);
}

TEST_CASE("many stacks: none overlap, each cell leads back to its stack and pool") {
  stack_pool pool({.stack_size = 8192});
  auto stacks = acquire(pool, 10000);
  std::set<std::byte*> lows;
  std::byte* last_top = nullptr;
  for (const stack_ref& stack : stacks) lows.insert(stack.low);
  CHECK(lows.size() == stacks.size());
  std::set<std::pair<std::byte*, std::byte*>> ranges;
  for (const stack_ref& stack : stacks) ranges.insert({stack.low, stack.top});
  bool disjoint = true, cells_right = true;
  for (auto [low, top] : ranges) {
    disjoint = disjoint && low >= last_top;
    last_top = top;
  }
  for (const stack_ref& stack : stacks) {
    stack_ref found = stack_pool::stack_of(stack.cell);
    cells_right = cells_right && found.low == stack.low && found.top == stack.top &&
                  &stack_depot::depot_of(stack.cell) == &pool.depot();
  }
  CHECK(disjoint);
  CHECK(cells_right);
  CHECK(pool.statistics().slabs > 1);
  release(pool, stacks);
}

TEST_CASE("tops are spread over the cache sets, and each leaves 1 KB on its first page") {
  stack_pool pool({.stack_size = 65536});
  auto stacks = acquire(pool, 480);
  std::vector<int> uses(64);
  for (const stack_ref& stack : stacks) {
    ++uses[(reinterpret_cast<std::uintptr_t>(stack.top) / 64) % 64];
    CHECK((reinterpret_cast<std::uintptr_t>(stack.top) - 1) % 4096 >= 1023);
  }
  CHECK(*std::max_element(uses.begin(), uses.end()) == 10);  // 480 over 48 sets
  release(pool, stacks);
}

// An even number would leave half of the sets of a translation buffer unused: they are chosen by a page's number.
TEST_CASE("from one guarded stack to the next it is an odd number of pages, in every size class") {
  for (std::size_t size = stack_pool::minimum_size; size <= std::size_t{64} << 20; size *= 2) {
    for (guard protection : {guard::required, guard::canary}) {
      CAPTURE(size);
      stack_pool pool({.stack_size = size, .protection = protection});
      auto stacks = acquire(pool, 8);  // of one slab
      std::set<std::uintptr_t> ends;
      for (const stack_ref& stack : stacks)
        ends.insert(reinterpret_cast<std::uintptr_t>(stack.top + 4095) / 4096 * 4096);
      for (auto end = ends.begin(), next = std::next(end); next != ends.end(); ++end, ++next) {
        CHECK((*next - *end) % detail::page_size() == 0);
        CHECK((*next - *end) / detail::page_size() % 2 == 1);
      }
      CHECK(ends.size() == stacks.size());
      release(pool, stacks);
    }
  }
}

TEST_CASE("a canary stands where a guard page is not wanted, and tells of one byte too many") {
  stack_pool pool({.stack_size = 16384, .protection = guard::canary});
  stack_ref stack = pool.acquire().value();
  CHECK(stack.canary);
  CHECK(detail::canary_intact(stack.low));
  std::memset(stack.low, 0xff, stack.size());
  CHECK(detail::canary_intact(stack.low));
  stack.low[-1] = std::byte{0};
  CHECK_FALSE(detail::canary_intact(stack.low));
  detail::write_canary(stack.low);
  pool.release(stack);
}

// Sanitizers reserve terabytes: an address space limit would end the process.
TEST_CASE("no address space is an error, not a crash" *
          doctest::skip(detail::sanitizer != detail::sanitizer_kind::plain)) {
  constexpr int not_limited = 2;
  pid_t child = fork();
  if (child == 0) {
    rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
    setrlimit(RLIMIT_AS, &limit);
    if (mmap(nullptr, 2 * limit.rlim_cur, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
      _exit(not_limited);  // qemu-user takes the limit and does not keep it
    stack_pool pool({.stack_size = std::size_t{256} << 20});
    std::vector<stack_ref> stacks;
    for (;;) {
      auto stack = pool.acquire();
      if (!stack) _exit(stack.error() == std::errc::not_enough_memory && !stacks.empty() ? 0 : 1);
      stacks.push_back(*stack);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == not_limited) {
    MESSAGE("not tested: here a process's address space cannot be limited");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("destroying a pool whose stacks are in use is fatal") {
  hocket_test::expect_fatal(
      [] {
        stack_pool pool;
        static_cast<void>(pool.acquire());
      },
      "stack_pool was destroyed while coroutines live");
}
