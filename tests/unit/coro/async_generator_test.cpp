// What async_generator does for readers of every kind: tests/suites/async_generator.hpp.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/task.hpp>

#include "support/death.hpp"
#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

async_generator<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

task<int> sum(async_generator<int> all) {
  int sum = 0;
  while (int* n = co_await all.next()) sum += *n;
  co_return sum;
}

async_generator<int> fails_after(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
  throw std::runtime_error("broken");
}

// Never ends.
struct stuck : detail::own_awaiter {
  static bool await_ready() noexcept { return false; }
  static void await_suspend(std::coroutine_handle<>) noexcept {}
  static void await_resume() noexcept {}
};

static_assert(!std::is_copy_constructible_v<async_generator<int>>);
static_assert(std::is_nothrow_move_constructible_v<async_generator<int>>);
static_assert(std::is_same_v<await_result_t<decltype(count(0).next())>, int*>);
static_assert(std::is_same_v<async_generator<const std::string&>::pointer, const std::string*>);
static_assert(std::is_same_v<async_generator<const std::string&>::value_type, std::string>);
static_assert(detail::has_header<async_generator<int>::promise_type>);

}  // namespace

TEST_CASE("an async_generator is read by a task, and value for value by a thread") {
  CHECK(sync_wait(sum(count(5))) == 10);
  CHECK(sync_wait(sum(count(0))) == 0);

  auto three = count(3);
  std::vector<int> got;
  while (int* n = sync_wait(three.next())) got.push_back(*n);
  CHECK(got == std::vector<int>{0, 1, 2});
  CHECK(sync_wait(three.next()) == nullptr);
}

TEST_CASE("an async_generator runs no further than it is asked") {
  int reached = 0;
  auto body = [&]() -> async_generator<int> {
    for (;;) co_yield ++reached;
  };
  auto g = body();
  CHECK(reached == 0);
  CHECK(*sync_wait(g.next()) == 1);
  CHECK(*sync_wait(g.next()) == 2);
  CHECK(reached == 2);
}

TEST_CASE("an async_generator of references gives the object itself") {
  std::vector<int> numbers{1, 2, 3};
  auto each = [&]() -> async_generator<int&> {
    for (int& n : numbers) co_yield n;
  };
  auto g = each();
  while (int* n = sync_wait(g.next())) *n *= 10;
  CHECK(numbers == std::vector<int>{10, 20, 30});

  auto look = [&]() -> async_generator<const int&> {
    for (int& n : numbers) co_yield n;
  };
  auto h = look();
  CHECK(sync_wait(h.next()) == &numbers[0]);
}

TEST_CASE("an async_generator moves what only moves, and copies lvalues that it gives away") {
  auto make = []() -> async_generator<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    auto second = std::make_unique<int>(2);
    co_yield std::move(second);
  };
  auto g = make();
  std::vector<std::unique_ptr<int>> got;
  while (auto* p = sync_wait(g.next())) got.push_back(std::move(*p));
  CHECK(*got[0] == 1);
  CHECK(*got[1] == 2);

  auto again = []() -> async_generator<std::string> {
    std::string mine = "kept";
    co_yield mine;
    co_yield mine;
  };
  auto texts = again();
  std::string first = std::move(*sync_wait(texts.next()));
  std::string second = std::move(*sync_wait(texts.next()));
  CHECK(first == "kept");
  CHECK(second == "kept");
}

TEST_CASE("an exception of the body comes out of next, and ends the sequence") {
  auto at_once = fails_after(0);
  CHECK_THROWS_WITH_AS(static_cast<void>(sync_wait(at_once.next())), "broken", std::runtime_error);
  CHECK(sync_wait(at_once.next()) == nullptr);

  auto later = fails_after(1);
  CHECK(*sync_wait(later.next()) == 0);
  CHECK_THROWS_WITH_AS(static_cast<void>(sync_wait(later.next())), "broken", std::runtime_error);
  CHECK(sync_wait(later.next()) == nullptr);
}

TEST_CASE("the exception of an async_generator is the object that the body threw") {
  const std::exception* thrown = nullptr;
  auto body = [&]() -> async_generator<int> {
    try {
      throw std::runtime_error("the same");
    } catch (const std::exception& e) {
      thrown = &e;
      throw;
    }
    co_yield 1;
  };
  auto g = body();
  try {
    (void)sync_wait(g.next());
  } catch (const std::exception& e) {
    CHECK(&e == thrown);
  }
  CHECK(thrown);
}

TEST_CASE("a long run of values goes through the queue now and then") {
  queue_executor queue;
  const int many = 100 * static_cast<int>(detail::transfer_budget);
  std::optional<int> got;
  auto reads = [&]() -> foreign {
    co_await hop_to(queue);
    got = co_await sum(count(many));
  };
  auto r = reads();
  queue.run();
  CHECK(r.done());
  CHECK(got);
  CHECK(queue.posts - 1 >= 190);  // two transfers a value
  CHECK(queue.posts - 1 <= 210);
}

TEST_CASE("a chain that is driven by hand is destroyed with its async_generator, locals first") {
  std::coroutine_handle<> at;
  auto waits = [&](counted) -> async_generator<int> {
    counted local;
    co_yield 1;
    co_await pause_at(at);
    co_yield 2;
  };
  auto reads = [&](counted) -> foreign {
    auto g = waits(counted{});
    int* n = co_await g.next();
    CHECK(*n == 1);
    n = co_await g.next();
    CHECK(*n == 2);
    co_await g.next();
  };
  {
    auto r = reads(counted{});
    CHECK(at);
    CHECK(counted::live == 3);
  }
  CHECK(counted::live == 0);

  auto r = reads(counted{});
  at.resume();
  CHECK(r.done());
}

TEST_CASE("misuse of an async_generator aborts and names the remedy") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        auto g = count(1);
        auto h = std::move(g);
        (void)sync_wait(g.next());
      },
      "next() of an async_generator that was moved from");
  expect_fatal(
      [] {
        std::coroutine_handle<> at;
        auto waits = [&]() -> async_generator<int> {
          co_await pause_at(at);
          co_yield 1;
        };
        auto g = waits();
        auto read = [&]() -> foreign { co_await g.next(); };
        auto first = read();
        auto second = read();
      },
      "while a next() is under way");
  expect_fatal(
      [] {
        async_generator<int>* self = nullptr;
        auto asks_itself = [&]() -> async_generator<int> {
          co_await self->next();
          co_yield 1;
        };
        auto g = asks_itself();
        self = &g;
        (void)sync_wait(g.next());
      },
      "while a next() is under way");
  if (!detail::debug_checks) return;
  expect_fatal(
      [] {
        queue_executor queue;
        auto waits = []() -> async_generator<int> {
          co_await stuck{};
          co_yield 1;
        };
        auto g = std::make_unique<async_generator<int>>(waits());
        auto read = [&]() -> foreign {
          co_await hop_to(queue);
          co_await g->next();
        };
        auto reader = read();
        queue.run();
        detail::running_scope running({&queue}, detail::this_thread().ctx);
        g.reset();
      },
      "destroyed while a next() is under way");
}
