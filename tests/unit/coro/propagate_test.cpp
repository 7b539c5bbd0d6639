#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/task.hpp>

#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>

using namespace hocket;
using namespace hocket_test;

namespace {

struct failed_deep : std::runtime_error {
  using runtime_error::runtime_error;
};

// Counts the frames that are there, and those that saw an exception in flight when they went.
struct alive {
  inline static int count = 0, saw = 0;
  alive() { ++count; }
  ~alive() {
    --count;
    saw += std::uncaught_exceptions() != 0;
  }
};

const void* thrown_at = nullptr;

task<int> leaf(bool fails) {
  if (fails) {
    try {
      throw failed_deep("leaf");
    } catch (const failed_deep& error) {
      thrown_at = &error;
      throw;
    }
  }
  co_return 1;
}
task<int> pass(int depth, bool fails) {
  alive here;
  if (depth == 0) co_return co_await leaf(fails).propagate();
  co_return 1 + co_await pass(depth - 1, fails).propagate();
}

}  // namespace

TEST_CASE("propagate gives the value like a plain await") {
  CHECK(sync_wait(pass(10, false)) == 11);
  auto moved = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  auto nothing = []() -> task<> { co_return; };
  auto both = [&]() -> task<std::unique_ptr<int>> {
    co_await nothing().propagate();
    auto t = moved();
    co_return co_await std::move(t).propagate();
  };
  CHECK(*sync_wait(both()) == 3);
  CHECK(alive::count == 0);
}

TEST_CASE("propagate hands the same exception on, past tasks whose locals are destroyed") {
  alive::saw = 0;
  const void* caught_at = nullptr;
  auto catches = [&]() -> task<std::string> {
    try {
      co_await pass(100, true);
    } catch (const failed_deep& error) {
      CHECK(alive::count == 0);
      caught_at = &error;
      co_return error.what();
    }
    co_return "nothing";
  };
  CHECK(sync_wait(catches()) == "leaf");
  CHECK(caught_at == thrown_at);
  CHECK(alive::saw == 0);
}

TEST_CASE("propagate does not ask the tasks between: their catch blocks are not entered") {
  bool entered = false;
  auto between = [&]() -> task<int> {
    try {
      co_return co_await leaf(true).propagate();
    } catch (...) {
      entered = true;
    }
    co_return 0;
  };
  CHECK_THROWS_AS(sync_wait(between()), failed_deep);
  CHECK_FALSE(entered);
}

TEST_CASE("an exception passes a hundred thousand tasks without a recursion") {
  CHECK_THROWS_AS(sync_wait(pass(100'000, true)), failed_deep);
  CHECK(alive::count == 0);
}

TEST_CASE("propagate after a wait") {
  queue_executor queue;
  auto late = [&]() -> task<int> {
    co_await hop_to(queue);
    throw failed_deep("late");
    co_return 1;
  };
  auto through = [&]() -> task<int> { co_return co_await late().propagate(); };
  bool caught = false;
  auto starts = [&]() -> foreign {
    co_await hop_to(queue);
    try {
      co_await through();
    } catch (const failed_deep&) {
      caught = true;
    }
  };
  auto one = starts();
  queue.run();
  CHECK(caught);
}
