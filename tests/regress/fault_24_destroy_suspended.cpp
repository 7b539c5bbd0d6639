// FAULTS 24: a frame destroyed while it is suspended. Run under ASan: every suspension point of a chain of tasks and
// of a generator is the last one once.
#include <hocket/coro/generator.hpp>
#include <hocket/coro/task.hpp>

#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

std::coroutine_handle<> at;

task<std::string> leaf(counted, std::string text) {
  counted local;
  co_await pause_at(at);
  text += "a heap string, not a short one";
  co_await pause_at(at);
  co_return text;
}
task<int&> middle(counted, int& target) {
  counted local;
  auto named = leaf(counted{}, "first, also long enough for the heap");
  auto text = co_await std::move(named);
  co_await pause_at(at);
  text += co_await leaf(counted{}, text);
  target = static_cast<int>(text.size());
  co_return target;
}
task<> failing(counted) {
  counted local;
  co_await pause_at(at);
  throw counted{};
}
task<> outer(counted) {
  counted local;
  int target = 0;
  CHECK(&co_await middle(counted{}, target) == &target);
  bool caught = false;
  try {
    co_await failing(counted{});
  } catch (const counted&) {
    caught = true;
  }
  CHECK(caught);
  co_await pause_at(at);
}
foreign drive() { co_await outer(counted{}); }

constexpr int pauses = 2 + 1 + 2 + 1 + 1;

generator<std::string> words(counted) {
  for (int i = 0; i < 3; ++i) {
    counted local;
    co_yield "a yielded temporary that lives on the heap";
    std::string kept = "an lvalue that lives on the heap and is copied";
    co_yield kept;
  }
}

}  // namespace

TEST_CASE("fault 24: a chain of tasks is destroyed at each of its suspension points") {
  for (int steps = 0; steps <= pauses; ++steps) {
    {
      at = nullptr;
      auto root = drive();
      for (int i = 0; i < steps; ++i) at.resume();
      CHECK(root.done() == (steps == pauses));
    }
    CHECK(counted::live == 0);
  }
}

TEST_CASE("fault 24: a generator is destroyed at each of its suspension points") {
  for (int steps = 0; steps <= 7; ++steps) {
    {
      auto g = words(counted{});
      if (steps > 0) {
        auto it = g.begin();
        for (int i = 1; i < steps; ++i) ++it;
        CHECK((it == g.end()) == (steps == 7));
      }
    }
    CHECK(counted::live == 0);
  }
}

TEST_CASE("fault 24: an unstarted task is destroyed with its parameters, once") {
  auto t = outer(counted{});
  auto u = std::move(t);
  t = std::move(u);
  std::move(t).discard();
  std::move(u).discard();
  CHECK(counted::live == 0);
}
