// What a source that has nothing more, or fails, does to the stacks: no memory is lost, and what can go on does.
#include "support/death.hpp"
#include "support/stack_arena.hpp"

#include "unit/stack/many.hpp"
#include "unit/stack/on_source.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("whichever call of a source fails, no memory is lost, and the next acquisition works") {
  std::vector<std::byte> memory(16 * megabyte);
  for (const stack_options& kind : kinds) {
    bool refused = true;
    for (std::size_t k = 0; refused; ++k) {
      CAPTURE(k);
      REQUIRE(k < 1000);
      stack_arena arena(memory);
      arena.refuse_after(k);
      {
        stack_pool pool(on(arena, kind));
        std::size_t failures = 0;
        auto stacks = acquire_some(pool, 100, failures);
        CHECK(stacks.size() == 100);
        CHECK(pool.depot().statistics().refusals == failures);
        fill(pool, stacks);
        release(pool, stacks);
        static_cast<void>(pool.trim());
        stacks = acquire_some(pool, 100, failures);
        CHECK(stacks.size() == 100);
        fill(pool, stacks);
        release(pool, stacks);
      }
      CHECK(arena.slabs() == 0);
      CHECK(arena.wrong() == 0);
      refused = arena.has_refused();
    }
  }
}

TEST_CASE("memory that a source could not commit is not touched") {
  for (const stack_options& kind : kinds) {
    bool refused = true;
    for (std::size_t k = 0; refused; ++k) {
      CAPTURE(k);
      REQUIRE(k < 1000);
      strict_source strict;
      strict.refuse_after(k);
      {
        stack_pool pool(on(strict, kind));
        std::size_t failures = 0;
        auto stacks = acquire_some(pool, 100, failures);
        CHECK(stacks.size() == 100);
        fill(pool, stacks);
        release(pool, stacks);
      }
      CHECK(strict.slabs() == 0);
      refused = strict.has_refused();
    }
  }
}

TEST_CASE("memory that is used up is an error, most of it is used, and stacks that come back are lent again") {
  alignas(64 * 1024) static std::byte memory[4 * megabyte];
  stack_arena arena(memory);
  stack_pool pool(on(arena, {.stack_size = 16384, .protection = guard::canary}));
  std::size_t failures = 0;
  auto stacks = acquire_some(pool, 1000, failures);
  CHECK(failures == 2);
  const auto each = static_cast<std::size_t>(stacks[1].low - stacks[0].low);
  CHECK(stacks.size() * each >= sizeof memory - megabyte / 2);  // the rest has cells, and is too small for a slab
  fill(pool, stacks);
  for (int i = 0; i < 10; ++i) {
    pool.release(stacks.back());
    stacks.back() = pool.acquire().value();
  }
  CHECK(pool.acquire().error() == std::errc::not_enough_memory);
  const std::size_t half = stacks.size() / 2;
  release(pool, stacks);
  static_cast<void>(pool.trim());
  CHECK(arena.slabs() == 0);
  release(pool, acquire(pool, half));
}

TEST_CASE("a source with nothing to give is an error, not a wait") {
  stack_arena none({});
  stack_depot depot(on(none, {.limit = 1, .when_full = at_limit::wait}));
  CHECK(depot.acquire().error() == std::errc::not_enough_memory);
  detail::stack_waiter waiter([](detail::stack_waiter&, const stack_ref&) noexcept {});
  const auto enlisted = depot.wait(waiter);
  CHECK(enlisted.kind == stack_depot::enlisting::failed);
  CHECK(enlisted.error == std::errc::not_enough_memory);
  CHECK(depot.statistics().reserved == 0);
}

TEST_CASE("memory that is not aligned is fatal, and the message says what to return") {
  struct misaligned final : stack_source {
    void* map(std::size_t, std::size_t alignment) noexcept override {
      return reinterpret_cast<void*>(alignment + 4096);
    }
    void release(void*, std::size_t) noexcept override {}
  } odd;
  expect_fatal(
      [&] {
        stack_pool pool(on(odd, {}));
        static_cast<void>(pool.acquire());
      },
      "the map() of a stack_source returned memory that is not aligned");
}
