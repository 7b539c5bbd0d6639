// Scheduled fibers on dense and on copied stacks. That every primitive works with fibers on a copied stack: the suites,
// with the kind copied_fibers.
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/or_throw.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/semaphore.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

struct witness {
  std::string* log;
  ~witness() { *log += '.'; }
};

}  // namespace

TEST_CASE("many fibers wait and yield on stacks of each kind") {
  for (auto kind : {stack_kind::own, stack_kind::dense, stack_kind::copied}) {
    if (kind == stack_kind::dense && detail::sanitizer == detail::sanitizer_kind::asan)
      continue;  // its frames are too large
    loop lp;
    semaphore turns{3};
    int wrong = 0, ended = 0;
    auto work = [&](int n) {
      std::string text(std::size_t(30 + n % 20), char('a' + n % 26));
      for (int i = 0; i < 5; ++i) {
        auto turn = await(turns.acquire());
        const std::string copy = text;
        await(yield());
        wrong += copy != text || text.size() != std::size_t(30 + n % 20);
        turns.release();
      }
      ++ended;
    };
    for (int n = 0; n < 200; ++n) spawn(lp, {.name = "worker", .stack = kind}, work, n);
    spawn(lp, work, 1);  // among them one with a stack of its own
    lp.run();
    CHECK(wrong == 0);
    CHECK(ended == 201);
  }
}

TEST_CASE(
    "a loop of more than a thousand coroutines of every kind gives each its turns, and ends those that are killed") {
  constexpr int each = 300, turns = 3;
  loop lp;
  std::vector<int> taken(5 * each, 0);
  std::vector<join_handle<void>> handles;
  auto fiber = [&](int n) {
    for (int i = 0; i < turns; ++i, await(yield())) ++taken[std::size_t(n)];
  };
  auto chain = [&](int n) -> task<> {
    for (int i = 0; i < turns; ++i, co_await yield()) ++taken[std::size_t(n)];
  };
  for (int n = 0; n < 5 * each; n += 5) {
    if (detail::machine::fibers_are_threads && n > 100) {  // a system does not have so many
      for (int i = 0; i < 5; ++i) handles.push_back(spawn(lp, chain, n + i));
      continue;
    }
    handles.push_back(spawn(lp, fiber, n));
    handles.push_back(spawn(lp, chain, n + 1));
    handles.push_back(spawn(lp, {.stack = stack_kind::copied}, fiber, n + 2));
    handles.push_back(spawn(lp, {.hibernate_after = std::chrono::hours{1}}, fiber, n + 3));
    handles.push_back(spawn(lp, {.stack = stack_kind::dense}, fiber, n + 4));
  }
  CHECK(lp.live() > 1024);  // so that its queue looks ahead
  for (int i = 0; i < 5 * each; ++i) REQUIRE(lp.step());
  for (std::size_t n = 0; n < handles.size(); n += 7) handles[n].kill();
  lp.run();
  for (std::size_t n = 0; n < handles.size(); ++n) CHECK(taken[n] == (n % 7 == 0 ? 1 : turns));
}

TEST_CASE("their stacks have about the size that is asked for") {
  loop lp;
  for (auto kind : {stack_kind::dense, stack_kind::copied}) {
    spawn(lp, {.stack_size = 32 * 1024, .stack = kind}, [] {
      volatile char room[24 * 1024] = {};
      static_cast<void>(room[0]);
      await(yield());
    });
    lp.run();
  }
}

TEST_CASE("killed, fibers on a copied stack unwind, each on its own frames") {
  std::string log;
  event never;
  {
    loop lp;
    for (int i = 0; i < 5; ++i)
      spawn(lp, {.stack = stack_kind::copied}, [&] {
        witness last{&log};
        static_cast<void>(await(never.wait()));
      });
    while (lp.step()) {
    }
    CHECK(log.empty());
  }
  CHECK(log == ".....");
}

TEST_CASE("a fiber on a copied stack awaits tasks, other fibers and calls on a big stack") {
  loop lp;
  event go;
  int sum = 0;
  auto twice = [&](int n) -> task<int> {
    REQUIRE(co_await go.wait());
    co_return 2 * n;
  };
  auto body = [&](int n) {
    int own = n;
    own += await(twice(n));
    auto child = spawn([n] { return n * 100; });
    own += await(child);
    own += call_on_big_stack([&] { return await(twice(own)); });
    sum += own;
  };
  for (int n : {1, 2, 3}) spawn(lp, {.stack = stack_kind::copied}, body, n);
  spawn(lp, [&] { go.set(); });
  lp.run();
  CHECK(sum == 3 * 103 * (1 + 2 + 3));
}

// AddressSanitizer keeps variables elsewhere, where they stay, and so does a thread of the operating system.
TEST_CASE("what others write to must not lie on a copied stack" *
          doctest::skip(detail::sanitizer == detail::sanitizer_kind::asan || detail::machine::fibers_are_threads)) {
  auto on_copied = [](auto body) {
    loop lp;
    spawn(lp, {.name = "copied one", .stack = stack_kind::copied}, body);
    lp.run();
  };
  expect_fatal([&] { on_copied([] { scope children; }); }, "lies on a copied stack");
  expect_fatal(
      [&] {
        on_copied([] {
          event mine;
          static_cast<void>(await(mine.wait()));
        });
      },
      "lies on a copied stack");
  expect_fatal(
      [&] {
        on_copied([] {
          event mine;
          await(or_throw(mine.wait()));
        });
      },
      "lies on a copied stack");
}
