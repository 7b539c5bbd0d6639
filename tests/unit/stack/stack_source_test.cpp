// Stacks on memory of the user's: what a source is asked for, and what becomes of its memory.
#include <hocket/stack/seam/inspection.hpp>

#include "stack/memory.hpp"
#include "support/death.hpp"
#include "support/stack_arena.hpp"

#include "unit/stack/many.hpp"
#include "unit/stack/on_source.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// Acquires, trims and acquires again, so that every function of a source is called.
void live_on(stack_source& source, const stack_options& kind) {
  stack_pool pool(on(source, kind));
  for (int round = 0; round < 3; ++round) {
    auto stacks = acquire(pool, 200);
    fill(pool, stacks);
    for (std::size_t i = 0; i < stacks.size(); ++i)  // neighbours, and single ones that stay
      if (i % 3 != 0) pool.release(stacks[i]);
    static_cast<void>(pool.trim());
    for (std::size_t i = 0; i < stacks.size(); ++i)
      if (i % 3 != 0) stacks[i] = pool.acquire().value();
    fill(pool, stacks);
    expect_guards(stacks);
    release(pool, stacks);
    static_cast<void>(pool.trim());
  }
}

}  // namespace

TEST_CASE("stacks and their cells lie in the memory of the source, and all of it goes back") {
  std::vector<std::byte> memory(16 * megabyte, std::byte{0xa5});
  for (const stack_options& kind : kinds) {
    stack_arena arena(memory);
    {
      stack_pool pool(on(arena, kind));
      CHECK(arena.calls() == 0);
      auto stacks = acquire(pool, 100);
      for (const stack_ref& stack : stacks) {
        CHECK(arena.holds(stack.low));
        CHECK(arena.holds(stack.top - 1));
        CHECK(arena.holds(static_cast<std::byte*>(stack.cell)));
        CHECK(stack_depot::is_of_source(stack.cell));
      }
      fill(pool, stacks);
      CHECK(pool.statistics().reserved == arena.in_use());
      release(pool, stacks);
    }
    CHECK(arena.slabs() == 0);
    CHECK(arena.wrong() == 0);
    std::memset(memory.data(), 0xa5, memory.size());  // no guard is left in it
  }
  stack_pool other;
  stack_ref stack = other.acquire().value();
  CHECK_FALSE(stack_depot::is_of_source(stack.cell));
  other.release(stack);
}

TEST_CASE("guards made by mprotect stay while stacks come and go, and are taken out of a source's memory") {
  const child_end end = end_of_child([] {
    detail::refuse_guard_markers();
    std::vector<std::byte> memory(32 * megabyte);
    for (const stack_options& kind : kinds) {
      stack_arena arena(memory);
      live_on(arena, kind);
      require(arena.slabs() == 0 && arena.wrong() == 0);
      std::memset(memory.data(), 1, memory.size());
    }
    strict_source strict;
    live_on(strict, {.stack_size = 16384});
    require(strict.slabs() == 0);
  });
  CHECK_MESSAGE(end.how == "the body returned", end.errors);
}

TEST_CASE("a source is not asked when a stack is warm") {
  std::vector<std::byte> memory(16 * megabyte);
  stack_arena arena(memory);
  stack_pool pool(on(arena, {}));
  release(pool, acquire(pool, 100));
  const std::size_t before = arena.calls();
  for (int i = 0; i < 10; ++i) release(pool, acquire(pool, 100));
  CHECK(arena.calls() == before);
}

TEST_CASE("only what is committed is touched") {
  for (const stack_options& kind : kinds) {
    strict_source strict;
    live_on(strict, kind);
    CHECK(strict.slabs() == 0);
  }
}

TEST_CASE("the page below a stack is a guard in a source's memory, too") {
  std::vector<std::byte> memory(4 * megabyte);
  stack_arena arena(memory);
  stack_pool pool(on(arena, {.stack_size = 16384}));
  auto stacks = acquire(pool, 20);
  CHECK(pool.statistics().unguarded == 0);
  for (const stack_ref& stack : stacks) CHECK_FALSE(stack.canary);
  expect_guards(stacks);
  release(pool, stacks);
}

// --- giving back

TEST_CASE("a trim decommits what is free of a slab that is in use, and counts what was given back") {
  std::vector<std::byte> memory(16 * megabyte);
  for (bool gives_back : {true, false}) {
    stack_arena arena(memory);
    arena.give_back(gives_back);
    stack_pool pool(on(arena, {.stack_size = 16384}));
    auto stacks = acquire(pool, 16);  // of one slab
    fill(pool, stacks);
    release(pool, {stacks.begin() + 1, stacks.end()});
    CHECK(pool.trim() == (gives_back ? 15 : 0));
    CHECK(arena.decommitted() >= 15 * std::size_t{16384});
    CHECK(arena.decommitted() < arena.in_use());
    CHECK(stacks[0].low[0] == std::byte{0xff});  // what is lent stays
    CHECK(stacks[0].top[-1] == std::byte{0xff});
    auto again = acquire(pool, 15);
    fill(pool, again);
    release(pool, again);
    pool.release(stacks[0]);
    static_cast<void>(pool.trim());
    CHECK(arena.slabs() == 0);
    CHECK(arena.wrong() == 0);
  }
}

TEST_CASE("a depot that is told of another source gives each slab back to its own") {
  std::vector<std::byte> memory(16 * megabyte);
  const std::span<std::byte> all(memory);
  stack_arena first(all.first(8 * megabyte)), second(all.last(8 * megabyte));
  stack_depot depot(on(first, {.stack_size = 16384}));
  const stack_ref old = depot.acquire().value();
  depot.tune(on(second, {}));
  std::vector<stack_ref> stacks;
  while (second.slabs() == 0) stacks.push_back(depot.acquire().value());
  CHECK(first.holds(old.low));
  CHECK(second.holds(stacks.back().low));
  depot.release(old);
  for (const stack_ref& stack : stacks) depot.release(stack);
  static_cast<void>(depot.trim());
  CHECK(first.slabs() + second.slabs() == 0);
  CHECK(first.wrong() + second.wrong() == 0);
}

// Shared memory is not zero after MADV_DONTNEED.
TEST_CASE("a pool that measures zeroes a source's memory by itself" * doctest::skip(!kernel_copies())) {
  const std::size_t size = 4 * megabyte;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  {
    stack_arena arena({static_cast<std::byte*>(memory), size});
    stack_pool pool(on(arena, {.stack_size = 65536, .measure = true}));
    stack_ref stack = pool.acquire().value();
    std::memset(stack.top - 20000, 0xff, 20000);
    pool.release(stack);
    CHECK(pool.statistics().high_water == 20000);
    stack = pool.acquire().value();
    CHECK(detail::high_water_of(stack) == 0);
    pool.release(stack);
  }
  ::munmap(memory, size);
}

// --- threads, huge pages

TEST_CASE("several depots on several threads share a source") {
  std::vector<std::byte> memory(64 * megabyte);
  stack_arena arena(memory);
  arena.give_back(true);
  {
    stack_depot shared(on(arena, {.stack_size = 16384, .keep = 0}));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        stack_depot own(on(arena, kinds[static_cast<std::size_t>(i)]));
        for (int round = 0; round < 20; ++round)
          for (stack_depot* depot : {&own, &shared}) {
            stack_pool pool(*depot);
            auto stacks = acquire(pool, 100);
            fill(pool, stacks);
            release(pool, stacks);
            static_cast<void>(pool.trim());
          }
      });
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(arena.slabs() == 0);
  CHECK(arena.wrong() == 0);
}

namespace {

// A mapping on huge pages: of hugetlbfs if the machine has set some aside, else such as the kernel makes by itself.
struct huge_memory {
  static constexpr std::size_t size = 24 * megabyte, page = 2 * megabyte;

  huge_memory() {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_HUGETLB, -1, 0);
    reserved = at != MAP_FAILED;
    if (reserved) return;
    at = ::mmap(nullptr, size + page, PROT_READ | PROT_WRITE, flags, -1, 0);
    REQUIRE(at != MAP_FAILED);
    ::madvise(at, size + page, MADV_HUGEPAGE);
  }
  ~huge_memory() { ::munmap(at, reserved ? size : size + page); }
  std::span<std::byte> pages() const {
    const std::size_t skip = (page - reinterpret_cast<std::uintptr_t>(at) % page) % page;
    return {static_cast<std::byte*>(at) + skip, size};
  }

  void* at;
  bool reserved;
};

}  // namespace

TEST_CASE("stacks on huge pages of a source's: dense ones, and others with canaries") {
  huge_memory memory;
  for (const stack_options& kind : {kinds[2], kinds[3]}) {
    stack_arena arena(memory.pages());
    live_on(arena, kind);
    CHECK(arena.slabs() == 0);
    CHECK(arena.wrong() == 0);
  }
}

TEST_CASE("huge pages that cannot have guards: an error where one is required, a canary where one is preferred") {
  huge_memory memory;
  if (!memory.reserved) {
    MESSAGE("not tested: the machine has no huge pages (sysctl vm.nr_hugepages=8)");
    return;
  }
  stack_arena arena(memory.pages());
  {
    stack_pool strict(on(arena, kinds[0]));
    CHECK(strict.acquire().error() == std::errc::invalid_argument);
    stack_pool pool(on(arena, kinds[1]));
    auto stacks = acquire(pool, 10);
    for (const stack_ref& stack : stacks) CHECK(stack.canary);
    CHECK(pool.statistics().unguarded >= 10);
    fill(pool, stacks);
    release(pool, stacks);
  }
  CHECK(arena.slabs() == 0);
}
