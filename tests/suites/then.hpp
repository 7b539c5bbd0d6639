// then and invoke, for every kind that awaits tasks.
#pragma once
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/invoke.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace hocket_test {

inline hocket::task<int> late(int n) {
  co_await hocket::yield();
  co_return n;
}
inline hocket::task<> late_nothing() { co_await hocket::yield(); }
inline hocket::task<int> late_failure() {
  co_await hocket::yield();
  throw std::runtime_error("late");
}

// Callables with names: g++ warns of frames with members of the type of a lambda in a header.
inline hocket::task<std::string> spelled(int n) {
  co_await hocket::yield();
  co_return std::to_string(n);
}
struct adds {
  std::shared_ptr<int> kept;
  hocket::task<int> operator()(int n) {
    co_await hocket::yield();
    co_return n + *kept;
  }
};
struct measures {
  std::shared_ptr<int> kept;
  long& during;
  hocket::task<std::size_t> operator()(std::shared_ptr<int> argument, const std::string& text) {
    co_await hocket::yield();
    during = kept.use_count();
    co_return text.size() + static_cast<std::size_t>(*argument);
  }
};

TEST_CASE_TEMPLATE("then gives what is made of a task's result, a plain call and a coroutine alike", Kind,
                   HOCKET_TASK_KINDS) {
  int steps = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto twice = then(late(7), [](int n) { return 2 * n; });
    auto nothing = then(late_nothing(), [&] { ++steps; });
    auto text = then(late(7), &spelled);
    auto chain = then(then(late(19), std::negate<int>()), &late);
    CHECK(steps == 0);
    int fourteen = co_await std::move(twice);
    CHECK(fourteen == 14);
    co_await std::move(nothing);
    CHECK(steps == 1);
    std::string seven = co_await std::move(text);
    CHECK(seven == "7");
    int last = co_await std::move(chain);
    CHECK(last == -19);
    ++steps;
  };
  int only = world.start(body);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(steps == 2);
}

TEST_CASE_TEMPLATE("then of an operation gets its result, and the wait can end otherwise", Kind, HOCKET_TASK_KINDS) {
  using namespace std::chrono_literals;
  auto ends = hocket::make_oneshot<std::unique_ptr<int>>();
  auto never = hocket::make_oneshot<int>();
  int got = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto number = then(ends.receiver.receive(), [](hocket::result<std::unique_ptr<int>> p) { return **p; });
    got = co_await std::move(number);
    auto timed = then(within(5ms, never.receiver.receive()), [](hocket::result<int> r) { return r.value_or(-1); });
    got += co_await std::move(timed);
    auto thrown = then(or_throw(never.receiver.receive()), [](int) { return 0; });
    co_await std::move(thrown);
  };
  int only = world.start(body);
  world.settle();
  CHECK(got == 0);
  ends.sender.send(std::make_unique<int>(7));
  world.settle();
  CHECK(got == 7);
  world.pass(5ms);
  CHECK(got == 6);
  world.cancel(only);
  world.settle();
  CHECK(world.ended(only) == fate::threw);
}

inline hocket::task<int> late_failure_of(int) { return late_failure(); }

TEST_CASE_TEMPLATE("then passes on what is thrown: before it, in it, and in what it returns", Kind, HOCKET_TASK_KINDS) {
  int called = 0, caught = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto before = then(late_failure(), [&](int) { ++called; });
    auto inside = then(late(1), [&](int) -> int { throw std::runtime_error("inside"); });
    auto after = then(late(1), &late_failure_of);
    try {
      co_await std::move(before);
    } catch (const std::runtime_error&) {
      ++caught;
    }
    try {
      co_await std::move(inside);
    } catch (const std::runtime_error&) {
      ++caught;
    }
    try {
      co_await std::move(after);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  };
  world.start(body);
  world.settle();
  CHECK(called == 0);
  CHECK(caught == 3);
}

TEST_CASE_TEMPLATE("what then and invoke were given lives until the end", Kind, HOCKET_TASK_KINDS) {
  auto kept = std::make_shared<int>(7);
  long during = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto continued = then(late(1), adds{kept});
    int eight = co_await std::move(continued);
    CHECK(eight == 8);
    auto called =
        hocket::invoke(measures{kept, during}, kept, std::string("a text that is too long for the string itself"));
    auto size = co_await std::move(called);
    CHECK(size == 52);
  };
  int only = world.start(body);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(during >= 3);
  CHECK(kept.use_count() == 1);
}

TEST_CASE_TEMPLATE("then stands in a group, and is cancelled with it", Kind, HOCKET_TASK_KINDS) {
  auto never = hocket::make_oneshot<int>();
  int called = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto both = when_all(then(late(1), [](int n) { return n * 10; }), then(late(2), &spelled));
    auto [ten, twenty] = co_await std::move(both);
    CHECK(ten == 10);
    CHECK(twenty == "2");
    auto losing = when_all(then(late(1), [](int) -> int { throw std::runtime_error("first"); }),
                           then(never.receiver.receive(), [&](hocket::result<int> r) { called += r ? 100 : 1; }));
    try {
      (void)co_await std::move(losing);
    } catch (const std::runtime_error&) {
      ++called;
    }
  };
  int only = world.start(body);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(called == 2);
}

}  // namespace hocket_test
