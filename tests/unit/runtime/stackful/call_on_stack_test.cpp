// Calls on another stack, from threads, raw coroutines and fibers.
#include <hocket/context/seam/switch.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/run.hpp>

#include "support/death.hpp"
#include "unit/runtime/gate.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

std::byte* here() { return static_cast<std::byte*>(__builtin_frame_address(0)); }
bool on(const stack_ref& stack, const std::byte* address) { return address >= stack.low && address < stack.top; }

// Needs about `depth` KiB.
[[gnu::noinline]] int deep(int depth) {
  volatile char room[1024] = {};
  if (depth == 0) return room[0];
  return deep(depth - 1) + room[1] + 1;
}

struct witness {
  std::string* log;
  char name;
  ~witness() { *log += name; }
};

// A stack for one test.
struct one_stack {
  stack_pool pool{{.stack_size = 256 * 1024}};
  stack_ref stack = *pool.acquire();
  ~one_stack() { pool.release(stack); }
};

}  // namespace

TEST_CASE("a call runs on the stack that it was given, and returns what f returned") {
  one_stack other;
  std::byte* inside = nullptr;
  int target = 5;
  auto look = [&](int n) {
    inside = here();
    return n + 1;
  };
  CHECK(call_on_stack(other.stack, look, 6) == 7);
  CHECK(detail::machine::fibers_are_threads != on(other.stack, inside));
  CHECK_FALSE(on(other.stack, here()));
  CHECK(&call_on_stack(other.stack, [&]() -> int& { return target; }) == &target);
  CHECK(*call_on_stack(other.stack, [](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(8)) == 8);
  call_on_stack(other.stack, [&] { target = 9; });
  CHECK(target == 9);
}

TEST_CASE("an exception passes from the other stack, the same object") {
  one_stack other;
  const void* thrown = nullptr;
  auto fail = [&] {
    auto error = std::make_exception_ptr(std::runtime_error("deep down"));
    try {
      std::rethrow_exception(error);
    } catch (std::runtime_error& seen) {
      thrown = &seen;
      throw;
    }
  };
  try {
    call_on_stack(other.stack, fail);
    CHECK(false);
  } catch (std::runtime_error& seen) {
    CHECK(&seen == thrown);
  }
  CHECK(call_on_stack(other.stack, [] { return 1; }) == 1);
}

TEST_CASE("a deep recursion runs on a big stack, from a fiber that has little, and calls nest") {
  auto body = [] {
    one_stack other;
    int sum = 0;
    for (int i = 0; i < 3; ++i) sum += call_on_big_stack(deep, 4000);
    auto nested = [&] {
      return deep(100) + call_on_big_stack([&] { return deep(3000) + call_on_big_stack(deep, 2000); });
    };
    return sum + call_on_stack(other.stack, nested);
  };
  loop lp;
  auto handle = spawn(lp, {.stack_size = 16 * 1024}, body);
  lp.run();
  CHECK(sync_wait(handle) == 3 * 4000 + 100 + 3000 + 2000);
}

TEST_CASE("a fiber suspends in a call on another stack, and goes on there") {
  loop lp;
  std::string order;
  auto body = [&](char name) {
    auto work = [&] {
      for (int i = 0; i < 3; ++i) {
        std::byte* before = here();
        order += name;
        await(yield());
        CHECK(before == here());
      }
      return std::string(1, name);
    };
    CHECK(call_on_big_stack(work) == std::string(1, name));
    await(yield());
    order += name;
  };
  for (char name : {'a', 'b'}) spawn(lp, body, name);
  lp.run();
  CHECK(order == "abababab");
}

TEST_CASE("a raw coroutine yields out of a call on another stack") {
  one_stack other;
  coroutine<int(int)> doubles{[&](auto& self, int first) {
    return call_on_stack(other.stack, [&] {
      int next = first;
      while (next != 0) next = self.yield(2 * next);
      return -1;
    });
  }};
  CHECK(doubles.resume(1) == 2);
  CHECK(doubles.resume(21) == 42);
  CHECK(doubles.resume(0) == -1);
}

TEST_CASE("a kill unwinds both stacks, the inner one first") {
  std::string log;
  gate shut;
  loop lp;
  auto handle = spawn(lp, [&] {
    witness outer{&log, 'o'};
    call_on_big_stack([&] {
      witness inner{&log, 'i'};
      static_cast<void>(await(shut.pass()));
    });
  });
  lp.step();
  handle.kill();
  lp.run();
  CHECK(log == "io");
  CHECK_THROWS_AS(sync_wait(handle), cancelled);
}

TEST_CASE("a raw coroutine that is destroyed in a call on another stack unwinds both") {
  std::string log;
  one_stack other;
  {
    coroutine<void()> suspended{[&](auto& self) {
      witness outer{&log, 'o'};
      call_on_stack(other.stack, [&] {
        witness inner{&log, 'i'};
        self.yield();
      });
    }};
    suspended.resume();
  }
  CHECK(log == "io");
}

TEST_CASE("an overflow of a stack with a canary is found when the call returns") {
  if (detail::machine::fibers_are_threads || detail::sanitizer != detail::sanitizer_kind::plain) return;
  auto overflow = [] {
    stack_pool pool({.stack_size = 16 * 1024, .protection = guard::canary});
    auto stack = *pool.acquire();
    call_on_stack(stack, [&] { *(stack.low - 1) = std::byte{0}; });
  };
  expect_fatal(overflow, "call_on_stack overflowed");
}
