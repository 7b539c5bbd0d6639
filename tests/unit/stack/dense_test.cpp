// Dense stacks: side by side, a canary each, on huge pages where the system gives them.
#include <hocket/stack/stack_pool.hpp>

#include "stack/memory.hpp"
#include "support/death.hpp"

#include "unit/stack/many.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <sys/prctl.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// More stacks than several huge pages have room for, each to its end, again and again.
void use_small_pages() {
  if (::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) return;  // qemu-user does not know it
  const std::size_t size = 4 * detail::page_size(), count = 2000;
  stack_pool pool({.stack_size = size, .layout = stack_layout::dense});
  for (int round = 0; round < 3; ++round) {
    auto stacks = acquire(pool, count);
    for (const stack_ref& stack : stacks) *static_cast<volatile std::byte*>(stack.top - 1) = std::byte{1};
    require(pool.depot().statistics().committed < count * size * 3 / 4);  // two pages of four each, and the cells
    for (const stack_ref& stack : stacks) std::memset(stack.low, 0xff, stack.size());
    for (const stack_ref& stack : stacks) require(detail::canary_intact(stack.low));
    release(pool, stacks);
    require(pool.trim() == count);
  }
}

}  // namespace

TEST_CASE("dense stacks lie side by side, with a canary each, in exactly their size") {
  for (std::size_t size : {std::size_t{4096}, std::size_t{8192}}) {
    stack_pool pool({.stack_size = size, .layout = stack_layout::dense});
    auto stacks = acquire(pool, 2000);
    std::set<std::uintptr_t> pages, sets;
    for (const stack_ref& stack : stacks) {
      CHECK(stack.canary);
      CHECK(stack.size() >= size - size / 8 - detail::canary_size);
      CHECK(detail::canary_intact(stack.low));
      std::memset(stack.low, 0xff, stack.size());
      pages.insert((reinterpret_cast<std::uintptr_t>(stack.top) - 1) / size);
      sets.insert(reinterpret_cast<std::uintptr_t>(stack.top) % 4096);
    }
    CHECK(pages.size() == stacks.size());
    CHECK(sets.size() == size / 8 / 64);
    bool intact = true;
    for (const stack_ref& stack : stacks) intact = intact && detail::canary_intact(stack.low);
    CHECK(intact);
    CHECK(pool.statistics().unguarded == 0);  // asked for, not fallen back to
    release(pool, stacks);
    CHECK(pool.trim() == 2000);
    stacks = acquire(pool, 1);
    CHECK(detail::canary_intact(stacks[0].low));
    release(pool, stacks);
  }
}

TEST_CASE("without the permission for huge pages dense stacks are as good, on small ones") {
  const child_end end = end_of_child([] { use_small_pages(); });
  CHECK_MESSAGE(end.how == "the body returned", end.errors);
}
