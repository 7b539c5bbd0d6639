#include <hocket/stack/seam/fault.hpp>
#include <hocket/stack/stack_depot.hpp>

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

constexpr std::uintptr_t low = 0x7000'0000'0000, page = 4096, kilobyte = 1024;

detail::stack_fault judge(std::uintptr_t address, std::uintptr_t stack_pointer) {
  return detail::judge_fault({address, stack_pointer}, reinterpret_cast<const std::byte*>(low));
}

}  // namespace

TEST_CASE("a fault in the guard page where the stack pointer is, is an overflow") {
  CHECK(judge(low - 8, low) == detail::stack_fault::overflow);            // a call or a push
  CHECK(judge(low - 100, low + 16) == detail::stack_fault::overflow);     // the red zone of a leaf
  CHECK(judge(low - page, low - page) == detail::stack_fault::overflow);  // the probe of a large frame
  CHECK(judge(low - 8, low - 40 * kilobyte) ==
        detail::stack_fault::overflow);                       // the upper end of one that was not probed
  CHECK(judge(low - 8, 0) == detail::stack_fault::overflow);  // the stack pointer is not known
}

TEST_CASE("a fault beyond the guard page is one if the stack pointer has jumped over it, too") {
  CHECK(judge(low - 30 * kilobyte, low - 40 * kilobyte) == detail::stack_fault::overflow);
  CHECK(judge(low - 30 * kilobyte, 0) == detail::stack_fault::foreign);
  CHECK(judge(low - 30 * kilobyte, low + 100) == detail::stack_fault::foreign);
  CHECK(judge(low - 900 * kilobyte, low - 40 * kilobyte) == detail::stack_fault::foreign);  // far below its frame
  CHECK(judge(low - 8 * kilobyte, low - 8 * kilobyte * kilobyte) == detail::stack_fault::foreign);  // on another stack
}

TEST_CASE("a fault in the guard page of a stack that has room is a stray access") {
  CHECK(judge(low - 8, low + kilobyte) == detail::stack_fault::stray);
  CHECK(judge(low - page, low + 60 * kilobyte) == detail::stack_fault::stray);
}

TEST_CASE("a fault where the stack pointer is, on a stack of unknown place, is an overflow of it") {
  CHECK(detail::ran_off_stack({low - 8, low}));
  CHECK(detail::ran_off_stack({low - 100, low + 16}));
  CHECK(detail::ran_off_stack({low + 200, low}));  // within a frame that has just been made
  CHECK_FALSE(detail::ran_off_stack({low - 8, low + kilobyte}));
  CHECK_FALSE(detail::ran_off_stack({low + 8 * kilobyte, low}));
  CHECK_FALSE(detail::ran_off_stack({8, low}));
  CHECK_FALSE(detail::ran_off_stack({low - 8, 0}));  // the stack pointer is not known
}

TEST_CASE("any other fault has nothing to do with the stack") {
  CHECK(judge(0, low + kilobyte) == detail::stack_fault::foreign);
  CHECK(judge(low, low) == detail::stack_fault::foreign);
  CHECK(judge(low + kilobyte, low + kilobyte) == detail::stack_fault::foreign);
  CHECK(judge(low - page - 1, low + kilobyte) == detail::stack_fault::foreign);
}

// For ThreadSanitizer: the search takes no lock of the depot.
TEST_CASE("a search for the owner of a stack races with no thread that lends others of its slab") {
  stack_depot depot({.limit = 16});
  const auto own = depot.acquire();
  REQUIRE(own);
  std::atomic<bool> over{false};
  std::thread other([&] {
    std::vector<stack_ref> stacks;
    while (auto stack = depot.acquire()) stacks.push_back(*stack);
    for (const stack_ref& stack : stacks) depot.release(stack);
    over.store(true, std::memory_order_relaxed);
  });
  bool found = true;
  do found = found && detail::cell_at(reinterpret_cast<std::uintptr_t>(own->low)) == own->cell;
  while (!over.load(std::memory_order_relaxed));
  other.join();
  CHECK(found);
  depot.release(*own);
}

TEST_CASE("the owner of a stack is found, however many slabs there are") {
  constexpr std::size_t count = 2500;
  std::vector<std::unique_ptr<stack_depot>> depots;
  std::vector<stack_ref> stacks;
  for (std::size_t i = 0; i < count; ++i) {
    depots.push_back(
        std::make_unique<stack_depot>(stack_options{.stack_size = 4096, .limit = 1, .protection = guard::canary}));
    const auto own = depots.back()->acquire();
    REQUIRE(own);
    stacks.push_back(*own);
  }
  const auto found = [](const stack_ref& stack) {
    return detail::cell_at(reinterpret_cast<std::uintptr_t>(stack.low)) == stack.cell;
  };
  CHECK(std::all_of(stacks.begin(), stacks.end(), found));
  for (std::size_t i = 0; i < count; ++i) depots[i]->release(stacks[i]);
  depots.clear();
  CHECK(std::none_of(stacks.begin(), stacks.end(), found));
}
