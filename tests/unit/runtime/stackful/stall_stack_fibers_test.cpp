// Where a stalled worker is, if a fiber runs on it.
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/spawn.hpp>

#include "unit/runtime/stall_report.hpp"

#include <algorithm>
#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

const void *leaf_function = nullptr, *middle_function = nullptr;

[[gnu::noinline]] void outer() {
  hold_until_reported();
  asm volatile("");
}
[[gnu::noinline]] void calls_on_another_stack() {
  call_on_big_stack(outer);
  asm volatile("");
}
task<> leaf() {
  co_await own_function(leaf_function);
  outer();
}
task<> middle() {
  co_await own_function(middle_function);
  co_await leaf();
}
[[gnu::noinline]] void awaits_tasks() {
  await(middle());
  asm volatile("");
}

const void* as_pointer(void (*function)()) { return reinterpret_cast<const void*>(function); }

// The functions of this file in the report of `body`, innermost first.
std::vector<const void*> functions_of(stall_report& report, void (*body)()) {
  current_report = &report;
  {
    hocket::runtime rt(reporting());
    sync_wait(spawn(rt, body));
  }
  std::vector<const void*> found = report.functions();
  const std::vector<const void*> ours = {
      as_pointer(&hold_until_reported), as_pointer(&outer), as_pointer(&calls_on_another_stack),
      as_pointer(&awaits_tasks),        leaf_function,      middle_function};
  std::erase_if(found,
                [&](const void* function) { return std::find(ours.begin(), ours.end(), function) == ours.end(); });
  return found;
}

bool is_left_out() { return detail::machine::fibers_are_threads || !knows_callers || !has_stacks(); }

}  // namespace

TEST_CASE("the report of a stalled fiber has the functions on its stack" * doctest::skip(is_left_out())) {
  stall_report report;
  CHECK(functions_of(report, &outer) == std::vector<const void*>{as_pointer(&hold_until_reported), as_pointer(&outer)});
  CHECK(report.functions()[0] == as_pointer(&hold_until_reported));
  CHECK(report.functions()[1] == as_pointer(&outer));
  CHECK(report.waiting().empty());
}

TEST_CASE("the report of a fiber that is stalled in a call on another stack has the functions on that stack" *
          doctest::skip(is_left_out())) {
  stall_report report;
  const std::vector<const void*> found = functions_of(report, &calls_on_another_stack);
  CHECK(found == std::vector<const void*>{as_pointer(&hold_until_reported), as_pointer(&outer)});
  CHECK(report.waiting().empty());
}

TEST_CASE("the report of a task that a fiber awaits has the tasks between them" * doctest::skip(is_left_out())) {
  stall_report report;
  const std::vector<const void*> found = functions_of(report, &awaits_tasks);
  CHECK(is_chain(found, {as_pointer(&hold_until_reported), as_pointer(&outer), leaf_function}, {middle_function}));
  CHECK(report.waiting() == std::vector<const void*>{middle_function});
}
