// Where the kernel has no guard markers: mprotect, its bound, and what the two strengths do there. Each case runs in a
// child, since what it changes holds for the process.
#include <hocket/stack/stack_pool.hpp>

#include "stack/memory.hpp"
#include "support/death.hpp"
#include "support/valgrind.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

using namespace hocket;

namespace {

constexpr std::size_t many = 70000;  // more than the mappings that a process may have by default allow

// Valgrind itself cannot follow so many mappings.
const doctest::skip outside_valgrind(hocket_test::runs_in_valgrind());

void require(bool holds) {
  if (!holds) std::abort();
}

std::size_t acquire_many(stack_pool& pool, std::vector<stack_ref>& stacks) {
  while (stacks.size() < many) {
    auto stack = pool.acquire();
    if (!stack) {
      require(stack.error() == std::errc::not_enough_memory);
      break;
    }
    stacks.push_back(*stack);
  }
  return stacks.size();
}

void release_all(stack_pool& pool, const std::vector<stack_ref>& stacks) {
  for (const stack_ref& stack : stacks) pool.release(stack);
}

void check_in_child(void (*body)()) {
  auto end = hocket_test::run_in_child([](void* f) { (*static_cast<void (**)()>(f))(); }, &body);
  CHECK_MESSAGE(end.how == "the body returned", end.errors);
}

void preferred_goes_on() {
  detail::refuse_guard_markers();
  stack_pool pool({.stack_size = 4096, .protection = guard::preferred});
  std::vector<stack_ref> stacks;
  require(acquire_many(pool, stacks) == many);
  std::size_t without = 0;
  for (const stack_ref& stack : stacks) {
    without += stack.canary;
    require(stack_pool::stack_of(stack.cell).canary == stack.canary);
    require(!stack.canary || detail::canary_intact(stack.low));
  }
  require(without > 0 && without < many);
  const std::size_t made = pool.statistics().unguarded;  // at most a run more
  require(made >= without && made < without + 64);
  stack_pool other({.stack_size = 4096, .protection = guard::preferred});  // the process can still map
  stack_ref one = other.acquire().value();
  other.release(one);
  release_all(pool, stacks);
}

void required_ends_with_an_error() {
  detail::refuse_guard_markers();
  std::size_t first = 0;
  for (int round = 0; round < 2; ++round) {  // the guards of a destroyed pool do not count any more
    stack_pool pool({.stack_size = 4096});
    std::vector<stack_ref> stacks;
    std::size_t got = acquire_many(pool, stacks);
    require(got > 1000 && got < many);
    for (const stack_ref& stack : stacks) require(!stack.canary);
    require(round == 0 || got == first);
    first = got;
    release_all(pool, stacks);
  }
}

// Each stack reports whether it is guarded; the mappings that guards may take are counted.
void the_seam_counts_mappings() {
  detail::refuse_guard_markers();
  const std::size_t size = 2 * many * detail::page_size();
  std::size_t first = 0;
  for (int round = 0; round < 2; ++round) {
    std::byte* memory = detail::reserve_memory(size, detail::page_size()).value();
    std::vector<detail::memory_range> ranges;
    for (std::size_t i = 0; i < many; ++i)
      ranges.push_back({memory + 2 * i * detail::page_size(), detail::page_size()});
    detail::guard_report report = detail::guard_pages(ranges.data(), many);
    require(report.error == std::errc::not_enough_memory && report.guarded == report.split);
    require(report.guarded > 1000 && report.guarded < many);
    require(round == 0 || report.guarded == first);
    first = report.guarded;
    detail::return_memory(memory, size);
    detail::forget_guards(report.split);
  }
}

}  // namespace

TEST_CASE("guard::preferred goes on with canaries where no more guards can be had" * outside_valgrind) {
  check_in_child(&preferred_goes_on);
}

TEST_CASE("guard::required ends with an error there, and the process can still map memory" * outside_valgrind) {
  check_in_child(&required_ends_with_an_error);
}

TEST_CASE("the seam to the system tells how many guards it made, and gets their mappings back" * outside_valgrind) {
  check_in_child(&the_seam_counts_mappings);
}

TEST_CASE("a released stack gets its canary back: its next owner is not blamed") {
  stack_pool pool({.stack_size = 4096, .protection = guard::canary});
  stack_ref stack = pool.acquire().value();
  stack.low[-1] = std::byte{0};
  pool.release(stack);
  CHECK(detail::canary_intact(pool.acquire().value().low));
  pool.release(stack);
}

TEST_CASE("a limit bounds the address space, too") {
  stack_pool pool({.stack_size = 1 << 20, .limit = 1});
  stack_ref stack = pool.acquire().value();
  CHECK(pool.statistics().reserved < (4u << 20));
  pool.release(stack);
}
