// Where a collector finds what raw coroutines hold, and that it finds nothing else.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/hibernate.hpp>

#include "support/death.hpp"
#include "support/own_stack.hpp"
#include "support/roots.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t count = 100;

// Holds the object over its first yield, and not over its second.
auto holder(stack_pool& pool, const hidden& what) {
  return coroutine<void()>(pool, [&what](auto& self) {
    hold(what, [&] { self.yield(); });
    self.yield();
  });
}

void check_kept_then_dropped(const stack_options& options, stack_part part) {
  std::vector<hidden> objects(count);
  stack_pool pool(options);
  std::vector<coroutine<void()>> all;
  for (const hidden& one : objects) {
    all.push_back(holder(pool, one));
    all.back().resume();
  }
  const told_ranges held = look();
  CHECK(held.unknown == 0);
  CHECK(held.count(part) >= count - 10);  // of copied stacks each has a fiber that is there
  for (const hidden& one : objects) CHECK(held.holds(one) == 1);
  for (auto& one : all) one.resume();
  const told_ranges dropped = look();
  std::size_t kept = 0;
  for (const hidden& one : objects) kept += dropped.holds(one) != 0;
  CHECK(kept == 0);
  for (auto& one : all) one.resume();
  all.clear();
  CHECK(look().ranges.empty());
}

}  // namespace

TEST_CASE("what a suspended coroutine holds is told, and what it has dropped is not" *
          doctest::skip(!can_enumerate_stacks())) {
  check_kept_then_dropped({}, stack_part::parked);
  check_kept_then_dropped({.stack_size = 8192}, stack_part::parked);
  check_kept_then_dropped({.layout = stack_layout::dense}, stack_part::parked);
  check_kept_then_dropped({.layout = stack_layout::copied}, stack_part::packed);
}

TEST_CASE("of a shallow coroutine few words are told" * doctest::skip(!can_enumerate_stacks())) {
  stack_pool pool;
  hidden object;
  auto one = holder(pool, object);
  one.resume();
  MESSAGE(look().words(), " words");
  CHECK(look().words() <= 200);  // 37 with -O2 on x86-64, 105 with -O0; the stack has 8,192
}

TEST_CASE("a hibernated stack is told where its frames are" * doctest::skip(!can_enumerate_stacks())) {
  hidden object;
  stack_pool pool({.protection = guard::required});
  auto one = holder(pool, object);
  one.resume();
  REQUIRE(hibernate(one));
  CHECK(look().holds(object, stack_part::packed) == 1);
  one.resume();
  CHECK(look().holds(object) == 0);
}

TEST_CASE("what a coroutine was made with, and what it returns, is told" * doctest::skip(!can_enumerate_stacks())) {
  hidden made_with, returned;
  stack_pool pool;
  auto unbegun = coroutine<int()>(pool, [kept = made_with.get()](auto&) -> int { return kept != nullptr; });
  coroutine<char*()> ended(pool, [&](auto&) -> char* { return returned.get(); });
  ended.resume();
  const told_ranges told = look();
  CHECK(told.holds(made_with) == 1);
  CHECK(told.holds(returned, stack_part::finished) <= 1);  // resume() has given it already
}

TEST_CASE("the data of the user is told" * doctest::skip(!can_enumerate_stacks())) {
  hidden object;
  coroutine<void()> one({.user_data = object.get()}, [](auto& self) { self.yield(); });
  CHECK(look().holds(object) == 1);
  one.resume();
  CHECK(look().holds(object) == 1);
}

TEST_CASE("both stacks of a call on another one are told" * doctest::skip(!can_enumerate_stacks())) {
  hidden outside, inside, deeper;
  stack_pool pool, other({.stack_size = 131'072});
  coroutine<void()> one(pool, [&](auto& self) {
    hold(outside, [&] {
      auto first = other.acquire(), second = other.acquire();
      call_on_stack(*first, [&] {
        hold(inside, [&] { call_on_stack(*second, [&] { hold(deeper, [&] { self.yield(); }); }); });
        self.yield();
      });
      other.release(*first);
      other.release(*second);
    });
    self.yield();
  });
  one.resume();
  told_ranges told = look();
  CHECK(told.unknown == 0);
  CHECK(told.count(stack_part::parked) == 3);
  CHECK(told.holds(outside) == 1);
  CHECK(told.holds(inside) == 1);
  CHECK(told.holds(deeper) == 1);
  one.resume();
  told = look();
  CHECK(told.holds(outside) == 1);
  CHECK(told.holds(inside) == 0);
  CHECK(told.holds(deeper) == 0);
  one.resume();
  CHECK(look().holds(outside) == 0);
}

TEST_CASE("those who have resumed a coroutine are told, from where they did" * doctest::skip(!can_enumerate_stacks())) {
  hidden native, middle, stale;
  stack_pool pool;
  coroutine<void()> inner(pool, [&](auto& self) {
    for (;;) self.yield();
  });
  told_ranges told;
  coroutine<void()> outer(pool, [&](auto& self) {
    coroutine<void()> looks(pool, [&](auto&) { told = look(); });
    hold(stale, [&] { inner.resume(); });
    hold(middle, [&] { looks.resume(); });
    self.yield();
  });
  hold(native, [&] { outer.resume(); });
  CHECK(told.unknown == 0);
  CHECK(told.holds(middle) == 1);
  CHECK(told.holds(native) == 1);
  CHECK(told.holds(stale) == 0);
}

TEST_CASE("a coroutine that was resumed in a call on another stack leads on to its resumer" *
          doctest::skip(!can_enumerate_stacks())) {
  hidden native, below, called;
  stack_pool pool, other({.stack_size = 131'072});
  told_ranges told;
  coroutine<void()> outer(pool, [&](auto& self) {
    coroutine<void()> looks(pool, [&](auto&) { told = look(); });
    auto stack = other.acquire();
    hold(below, [&] { call_on_stack(*stack, [&] { hold(called, [&] { looks.resume(); }); }); });
    other.release(*stack);
    self.yield();
  });
  hold(native, [&] { outer.resume(); });
  CHECK(told.unknown == 0);
  CHECK(told.holds(native) == 1);
  CHECK(told.holds(below) == 1);
  CHECK(told.holds(called) == 1);
}

TEST_CASE("a stack that a thread has called itself is told, and the thread's own below it" *
          doctest::skip(!can_enumerate_stacks())) {
  hidden native, called;
  stack_pool pool, other({.stack_size = 131'072});
  told_ranges told;
  coroutine<void()> looks(pool, [&](auto&) { told = look(); });
  auto stack = other.acquire();
  hold(native, [&] { call_on_stack(*stack, [&] { hold(called, [&] { looks.resume(); }); }); });
  other.release(*stack);
  CHECK(told.unknown == 0);
  CHECK(told.holds(native) == 1);
  CHECK(told.holds(called) == 1);
}

TEST_CASE("what has ended on a copied stack keeps its result, whoever came after it" *
          doctest::skip(!can_enumerate_stacks())) {
  hidden object, other;
  stack_pool pool({.layout = stack_layout::copied});
  std::vector<coroutine<void()>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(coroutine<void()>({.pool = &pool, .user_data = object.get()}, [](auto&) {}));
    all.back().resume();
  }
  CHECK(look().holds(object) == all.size());
  auto last = holder(pool, other);
  last.resume();
  CHECK(look().holds(object) == all.size());
}

TEST_CASE("the owner of a stack may keep what it likes in the cell" * doctest::skip(!can_enumerate_stacks())) {
  stack_pool pool;
  auto stack = pool.acquire();
  std::memset(stack->cell, 2, 64);
  CHECK(look().ranges.empty());
  pool.release(*stack);
}

TEST_CASE("another thread's coroutines are told" * doctest::skip(!can_enumerate_stacks())) {
  hidden object;
  told_ranges told;
  std::thread([&] {
    stack_pool pool;
    auto one = holder(pool, object);
    one.resume();
    std::thread([&] { told = look(); }).join();
    CHECK(told.holds(object) == 1);
  }).join();
}

TEST_CASE("where the roots of a stack end is known by its stack pointer" * doctest::skip(!can_enumerate_stacks())) {
  int local = 0;
  CHECK(stack_limit(&local) == nullptr);
  const void* limit = nullptr;
  const void* inside = nullptr;
  coroutine<void()> one([&](auto&) {
    int mine = 0;
    inside = &mine;
    limit = stack_limit(&mine);
  });
  one.resume();
  CHECK(limit > inside);
  CHECK(static_cast<const std::byte*>(limit) - static_cast<const std::byte*>(inside) < 2000);
}

TEST_CASE("an enumeration while a thread runs a fiber that is not among the stopped threads is fatal, at level debug" *
          doctest::skip(!can_enumerate_stacks() || !detail::debug_checks)) {
  expect_fatal(
      [] {
        std::thread([] {
          coroutine<void()> runner({.name = "runner"}, [](auto&) { for_each_stack({}, [](const stack_range&) {}); });
          runner.resume();
        }).join();
      },
      "while a thread runs \"runner\", which is not among the stopped threads");
}
