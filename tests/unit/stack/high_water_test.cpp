#include <hocket/stack/seam/inspection.hpp>

#include "stack/memory.hpp"
#include "support/kernel_copies.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using hocket_test::kernel_copies;

namespace {

struct one_stack {
  stack_pool& pool;
  stack_ref stack = pool.acquire().value();
  ~one_stack() { pool.release(stack); }

  void use(std::size_t bytes) { *static_cast<volatile std::byte*>(stack.top - bytes) = std::byte{1}; }
  std::size_t mark() const { return detail::high_water_of(stack); }
};

}  // namespace

TEST_CASE("a mark is never too low, whether or not the kernel lets the words be looked at") {
  stack_pool pool({.stack_size = 256 * 1024, .measure = true});
  one_stack one{pool};
  for (std::size_t bytes : {std::size_t{8}, std::size_t{50'000}}) {
    one.use(bytes);
    CHECK(one.mark() >= bytes);
    CHECK(one.mark() < bytes + 2 * detail::page_size());
  }
}

TEST_SUITE_BEGIN("words" * doctest::skip(!kernel_copies()));

TEST_CASE("the high-water mark is the lowest word that was written") {
  stack_pool pool({.stack_size = 256 * 1024, .measure = true});
  one_stack one{pool};
  CHECK(one.mark() == 0);
  for (std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{50'000}, one.stack.size()}) {
    one.use(bytes);
    CHECK(one.mark() == bytes);
  }
  one.use(16);
  CHECK(one.mark() == one.stack.size());
}

TEST_CASE("a word that was written with zero does not count, one above it does") {
  stack_pool pool({.stack_size = 64 * 1024, .measure = true});
  one_stack one{pool};
  *static_cast<volatile std::byte*>(one.stack.top - 40'000) = std::byte{0};
  CHECK(one.mark() == 0);
  one.use(800);
  CHECK(one.mark() == 800);
}

TEST_CASE("a pool that measures has the deepest use of the stacks that came back, and gives zeros out") {
  for (guard protection : {guard::required, guard::canary}) {
    stack_pool pool({.stack_size = 64 * 1024, .protection = protection, .measure = true});
    for (std::size_t bytes : {std::size_t{10'000}, std::size_t{30'000}, std::size_t{20'000}}) {
      one_stack one{pool};
      CHECK(one.mark() == 0);
      one.use(bytes);
      CHECK((!one.stack.canary || detail::canary_intact(one.stack.low)));
    }
    CHECK(pool.statistics().high_water == 30'000);
    one_stack again{pool};
    CHECK((!again.stack.canary || detail::canary_intact(again.stack.low)));
    CHECK(again.mark() == 0);
  }
}

TEST_CASE("a pool that does not measure says 0, and the mark of a stack is an upper bound") {
  stack_pool pool({.stack_size = 64 * 1024});
  one_stack{pool}.use(30'000);
  CHECK(pool.statistics().high_water == 0);
  one_stack again{pool};
  again.use(10'000);
  CHECK(again.mark() == 30'000);
}

TEST_SUITE_END();
