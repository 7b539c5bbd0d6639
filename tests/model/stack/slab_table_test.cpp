// The table of all slabs under every schedule, and the slabs in it: both are the library's own sources. The table is
// lock-free. Threads enter and remove slabs under no common lock (each depot has its own), and a signal handler
// searches at any moment.
//
// The promises of the table, which these tests check:
//
//   a slab that a thread knows        is found by this thread, whatever others enter and remove meanwhile
//   a slab that another thread enters is found whole, or not at all
//   an entry                          belongs to one slab at a time
//   a chunk that a thread appends     is whole for each reader, and is appended by one thread
//
// A chunk has one entry here, so each slab but the first needs another chunk.
//
// Not asked: a search that meets a slab as it is unmapped. The header allows that for a handler that ends the process.
#include <hocket/stack/seam/fault.hpp>

#include "core/kept.hpp"
#include "stack/slab_table.hpp"
#include "stack/system_memory.hpp"
#include "verdict.hpp"

#include <array>

namespace {

using hocket::stack_depot;
using hocket::stack_ref;
using hocket::detail::cell_at;
using hocket::detail::slab_at;
using hocket::detail::stack_slab;
using hocket::model::execution;
using hocket::model::require;
using hocket_test::system_memory;
namespace detail = hocket::detail;
namespace model = hocket::model;

std::uintptr_t address_in(const stack_ref& stack) noexcept { return reinterpret_cast<std::uintptr_t>(stack.low); }

struct some_slabs {
  static constexpr detail::stack_geometry geometry{3 * system_memory::page, system_memory::page, 1, 0};

  hocket::result<stack_slab*> try_create() { return stack_slab::create(*depot, geometry, {}, 2, 0); }
  // As a depot does: with one stack that is lent.
  stack_ref create() {
    auto slab = try_create();
    require(bool(slab));
    detail::stack_run run;
    std::size_t unguarded = 0;
    require(!(*slab)->lend(run, 1, unguarded) && unguarded == 0);
    return geometry.stack((*slab)->at(0));
  }
  static void destroy(const stack_ref& stack) { stack_slab::destroy(&stack_slab::slab_of(stack.cell)); }

  system_memory memory;
  hocket_test::kept<stack_depot> depot;  // it is asked for nothing
};

void expect_found(const stack_ref& stack) {
  require(cell_at(address_in(stack)) == stack.cell, "a thread does not find the stack on which it runs");
}
void expect_gone(const stack_ref& stack) {
  require(!slab_at(address_in(stack)), "a slab that is gone is still in the table");
}

void two_enter(execution& run) {
  some_slabs t;
  std::array<stack_ref, 2> stacks{};
  for (auto& one : stacks) {
    run.thread("enters", [&] {
      one = t.create();
      expect_found(one);
    });
  }
  run.join();
  for (auto& one : stacks) expect_found(one);
  for (auto& one : stacks) t.destroy(one);
  for (auto& one : stacks) expect_gone(one);
}

// No entry is free: both threads append a chunk.
void two_find_the_table_full(execution& run) {
  some_slabs t;
  const stack_ref first = t.create();
  std::array<stack_ref, 2> stacks{};
  for (auto& one : stacks) run.thread("enters", [&] { one = t.create(); });
  run.join();
  for (auto& one : stacks) expect_found(one);
  for (auto& one : stacks) t.destroy(one);
  t.destroy(first);
}

// The handler of a thread that has followed a stray pointer into a slab of which it was told nothing.
void entered_beside_a_search(execution& run) {
  some_slabs t;
  stack_ref made{};
  const auto where = reinterpret_cast<std::uintptr_t>(t.memory.first_stack());
  run.thread("enters", [&] { made = t.create(); });
  run.thread("searches", [&] {
    if (const void* cell = cell_at(where)) require(&stack_slab::slab_of(cell) == slab_at(where));
  });
  run.join();
  require(cell_at(where) == made.cell, "the address is not one of the first slab");
  t.destroy(made);
}

// The same where the slab needs another chunk.
void found_in_a_new_chunk(execution& run) {
  some_slabs t;
  const stack_ref first = t.create();
  stack_ref made{};
  const auto where = reinterpret_cast<std::uintptr_t>(t.memory.first_stack(1));
  run.thread("enters", [&] { made = t.create(); });
  run.thread("searches", [&] {
    if (const void* cell = cell_at(where)) require(&stack_slab::slab_of(cell) == slab_at(where));
  });
  run.join();
  require(cell_at(where) == made.cell, "the address is not one of the second slab");
  t.destroy(first);
  t.destroy(made);
}

// Chunks stay, and their entries are used again.
void memory_ends(execution&) {
  some_slabs t;
  std::array<stack_ref, 4> stacks{};
  for (auto& one : stacks) one = t.create();
  const auto refused = t.try_create();
  require(!refused && refused.error() == std::errc::not_enough_memory, "a slab was made that is not in the table");
  for (auto& one : stacks) expect_found(one);
  for (auto& one : stacks) t.destroy(one);
  for (auto& one : stacks) one = t.create();
  for (auto& one : stacks) expect_found(one);
  for (auto& one : stacks) t.destroy(one);
}

// One slab goes, and the entry is used again, beside a thread that runs on a stack of another slab.
void others_come_and_go(execution& run) {
  some_slabs t;
  stack_ref goes = t.create(), comes{};
  const stack_ref stays = t.create();
  run.thread("runs on a stack", [&] { expect_found(stays); });
  run.thread("removes", [&] { t.destroy(goes); });
  run.thread("enters", [&] { comes = t.create(); });
  run.join();
  expect_found(stays);
  expect_found(comes);
  t.destroy(stays);
  t.destroy(comes);
  expect_gone(stays);
  expect_gone(comes);
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 0};

}  // namespace

TEST_SUITE_BEGIN("model/stack/slab_table");

TEST_CASE("threads that enter slabs at once take an entry each") { verdict::none(bounds, &two_enter); }

TEST_CASE("threads that find the table full at once lose no slab") { verdict::none(bounds, &two_find_the_table_full); }

TEST_CASE("a search finds a slab of another thread whole, or not at all") {
  verdict::none(bounds, &entered_beside_a_search);
}

TEST_CASE("a search finds a slab whole for which the table has grown, or not at all") {
  verdict::none(bounds, &found_in_a_new_chunk);
}

TEST_CASE("a slab that finds no entry is not made; no slab is left out") { verdict::none(bounds, &memory_ends); }

TEST_CASE("a thread finds its own stack while other slabs come and go") { verdict::none(bounds, &others_come_and_go); }

TEST_CASE("every ordering of the slab table is needed") {
  constexpr model::options in_table{.preemptions = 2, .stale_reads = 1, .spurious = 0, .weakened = "slab_table."};
  CHECK(model::unneeded_orderings(in_table, &entered_beside_a_search, &found_in_a_new_chunk, &two_enter) == "");
}

TEST_SUITE_END();
