// The async_generator, for readers of every kind.
#pragma once
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace hocket_test {

// Gives 0 .. n - 1, each when the event is set.
inline hocket::async_generator<int> one_for_each(hocket::auto_reset_event& event, int n) {
  for (int i = 0; i < n; ++i) {
    auto set = co_await event.wait();
    if (!set) throw std::system_error(set.error());
    co_yield i;
  }
}

TEST_CASE_TEMPLATE("an async_generator waits for what it gives", Kind, HOCKET_SUITE_KINDS) {
  hocket::auto_reset_event event;
  std::vector<int> got;
  Kind world;
  auto read = [&]() -> typename Kind::body {
    auto all = one_for_each(event, 3);
    while (int* n = co_await all.next()) got.push_back(*n);
    got.push_back(-1);
    int* again = co_await all.next();
    CHECK(again == nullptr);
  };
  int reader = world.start(read);
  world.settle();
  for (int i = 0; i < 3; ++i) {
    CHECK(got.size() == static_cast<std::size_t>(i));
    event.set();
    world.settle();
  }
  CHECK(got == std::vector<int>{0, 1, 2, -1});
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("the body runs under the context of whoever asks", Kind, HOCKET_SUITE_KINDS) {
  using hocket::current_context, hocket::current_executor;
  Kind world;
  auto contexts = [](hocket::auto_reset_event& event) -> hocket::async_generator<const hocket::context*> {
    for (;;) {
      co_yield &current_context();
      auto set = co_await event.wait();
      CHECK(set.has_value());
    }
  };
  hocket::auto_reset_event event;
  auto shared = contexts(event);
  int right = 0;
  auto read = [&]() -> typename Kind::body {
    const hocket::context** seen = co_await shared.next();
    right += *seen == &current_context() ? 1 : 0;
    event.set();
    seen = co_await shared.next();
    right += *seen == &current_context() ? 1 : 0;
    event.set();
  };
  world.start(read);
  world.settle();
  world.start(read);
  world.settle();
  CHECK(right == 4);
}

TEST_CASE_TEMPLATE("a cancelled reader cancels the wait of the body", Kind, HOCKET_SUITE_KINDS) {
  hocket::auto_reset_event event;
  Kind world;
  std::error_code error;
  auto read = [&]() -> typename Kind::body {
    auto all = one_for_each(event, 3);
    bool failed = false;
    try {
      (void)co_await all.next();
    } catch (const std::system_error& e) {
      failed = true;
      error = e.code();
    }
    CHECK(failed);
    int* after = co_await all.next();
    CHECK(after == nullptr);
  };
  int reader = world.start(read);
  world.settle();
  world.cancel(reader);
  world.settle();
  CHECK(error == std::errc::operation_canceled);
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("a wait of the body may have a deadline, and what was waited for comes later", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  hocket::auto_reset_event event;
  Kind world;
  std::vector<std::string> got;
  auto tries = [&]() -> hocket::async_generator<std::string> {
    for (;;) {
      auto set = co_await within(5ms, event.wait());
      if (set) break;
      co_yield "not yet";
    }
    std::string last = "at last";
    co_yield last;
  };
  auto read = [&]() -> typename Kind::body {
    auto all = tries();
    while (std::string* s = co_await all.next()) got.push_back(std::move(*s));
  };
  world.start(read);
  world.settle();
  world.pass(5ms);
  world.pass(5ms);
  event.set();
  world.settle();
  CHECK(got == std::vector<std::string>{"not yet", "not yet", "at last"});
}

TEST_CASE_TEMPLATE("a kill of the reader unwinds the body first", Kind, HOCKET_SUITE_KINDS) {
  hocket::auto_reset_event event;
  Kind world;
  std::vector<int> order;
  struct noted {
    noted(std::vector<int>& to, int n) : to_(to), n_(n) {}
    noted(const noted&) = delete;
    ~noted() { to_.push_back(n_); }
    std::vector<int>& to_;
    int n_;
  };
  auto waits = [&]() -> hocket::async_generator<int> {
    noted local(order, 1);
    co_yield 1;
    (void)co_await event.wait();
    co_yield 2;
  };
  auto read = [&]() -> typename Kind::body {
    noted local(order, 2);
    auto all = waits();
    while (co_await all.next() != nullptr) {
    }
  };
  int reader = world.start(read);
  world.settle();
  CHECK(order.empty());
  world.kill(reader);
  world.settle();
  CHECK(order == std::vector<int>{1, 2});
  CHECK(world.ended(reader) == fate::killed);
}

TEST_CASE_TEMPLATE("destroying an async_generator at a value, or before it begins, destroys its locals", Kind,
                   HOCKET_SUITE_KINDS) {
  Kind world;
  auto alive = std::make_shared<int>(0);
  auto endless = [](std::shared_ptr<int> parameter) -> hocket::async_generator<long> {
    auto local = parameter;
    for (;;) co_yield local.use_count();
  };
  auto read = [&]() -> typename Kind::body {
    {
      auto unbegun = endless(alive);
      auto begun = endless(alive);
      long* count = co_await begun.next();
      CHECK(*count == 4);
      begun = endless(alive);
      CHECK(alive.use_count() == 3);
      auto moved = std::move(begun);
      CHECK_FALSE(static_cast<bool>(begun));
      count = co_await moved.next();
      CHECK(*count == 4);
    }
    CHECK(alive.use_count() == 1);
  };
  int reader = world.start(read);
  world.settle();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("async generators stand upon one another, and upon tasks", Kind, HOCKET_SUITE_KINDS) {
  Kind world;
  hocket::auto_reset_event event;
  auto doubled = [](int n) -> hocket::task<int> { co_return 2 * n; };
  auto twice = [&](hocket::async_generator<int> from) -> hocket::async_generator<int> {
    while (int* n = co_await from.next()) {
      auto result = doubled(*n);
      co_yield co_await std::move(result);
    }
  };
  std::vector<int> got;
  auto read = [&]() -> typename Kind::body {
    auto all = twice(twice(one_for_each(event, 3)));
    while (int* n = co_await all.next()) got.push_back(*n);
  };
  world.start(read);
  world.settle();
  for (int i = 0; i < 3; ++i) {
    event.set();
    world.settle();
  }
  CHECK(got == std::vector<int>{0, 4, 8});
}

TEST_CASE_TEMPLATE("a million values that nobody has to wait for keep the stack", Kind, HOCKET_SUITE_KINDS) {
  constexpr int many = 1'000'000;
  Kind world;
  auto numbers = []() -> hocket::async_generator<int> {
    for (int i = 0; i < many; ++i) co_yield i;
  };
  std::int64_t sum = 0;
  auto read = [&]() -> typename Kind::body {
    auto all = numbers();
    while (int* n = co_await all.next()) sum += *n;
  };
  world.start(read);
  world.settle();
  CHECK(sum == std::int64_t{many} * (many - 1) / 2);
}

}  // namespace hocket_test
