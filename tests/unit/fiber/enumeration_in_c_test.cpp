// The C form of the enumeration: the same ranges as the C++ form.
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>

#include "support/own_stack.hpp"
#include "support/roots.hpp"
#include "unit/fiber/c/collect.h"

#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

struct both {
  told_ranges in_cpp;
  ranges_in_c in_c;
};

// What both forms tell of the same moment.
[[gnu::noinline]] void collect(both& into) {
  const own_stack own;
  const stopped_thread here = this_thread(own.low, own.base);
  collect_in_c(own.low, own.base, here.stack_pointer, &into.in_c);
  into.in_cpp = enumerate({&here, 1});
}

void check_equal(const both& told) {
  CHECK(told.in_c.unknown == static_cast<int>(told.in_cpp.unknown));
  REQUIRE(told.in_c.count == static_cast<int>(told.in_cpp.ranges.size()));
  for (std::size_t i = 0; i < told.in_cpp.ranges.size(); ++i) {
    CHECK(told.in_c.all[i].low == told.in_cpp.ranges[i].low);
    CHECK(told.in_c.all[i].high == told.in_cpp.ranges[i].high);
    CHECK(told.in_c.all[i].part == static_cast<int>(told.in_cpp.ranges[i].part));
  }
}

}  // namespace

static_assert(hocket_stack_parked == static_cast<int>(stack_part::parked));
static_assert(hocket_stack_packed == static_cast<int>(stack_part::packed));
static_assert(hocket_stack_finished == static_cast<int>(stack_part::finished));
static_assert(hocket_stack_unknown == static_cast<int>(stack_part::unknown));

TEST_CASE("C is told the ranges that C++ is told" * doctest::skip(!can_enumerate_stacks())) {
  stack_pool own, packed({.layout = stack_layout::copied}), other({.stack_size = 131'072});
  const auto told = std::make_unique<both>();
  std::vector<coroutine<void()>> all;
  for (int i = 0; i < 10; ++i) {
    all.emplace_back(i % 2 == 0 ? own : packed, [](auto& self) { self.yield(); });
    all.back().resume();
  }
  coroutine<void()> looks(own, [&](auto&) { collect(*told); });
  coroutine<void()> outer(own, [&](auto& self) {
    auto stack = other.acquire();
    call_on_stack(*stack, [&] { looks.resume(); });
    other.release(*stack);
    self.yield();
  });
  outer.resume();
  CHECK(told->in_cpp.ranges.size() > 10);
  check_equal(*told);
  collect(*told);
  check_equal(*told);
}

TEST_CASE("C learns where the roots of a stack end") {
  const void* limit = nullptr;
  int local = 0;
  CHECK((ask_in_c(&local, &limit) != 0) == can_enumerate_stacks());
  CHECK(limit == nullptr);
  const void* expected = nullptr;
  coroutine<void()> one([&](auto&) {
    int mine = 0;
    ask_in_c(&mine, &limit);
    expected = stack_limit(&mine);
  });
  one.resume();
  CHECK(limit == expected);
}
