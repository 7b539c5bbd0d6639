// What threads get of then and invoke; and what becomes of those that nobody awaits.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/invoke.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>

#include "support/death.hpp"
#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

context_local<int> depth;

task<int> one(counted) {
  co_await yield();
  co_return 1;
}
task<> fails() {
  throw std::runtime_error("first");
  co_return;
}

}  // namespace

TEST_CASE("a thread waits for what then and invoke give") {
  CHECK(sync_wait(then(one({}), [](int n) { return n + 1; })) == 2);
  CHECK(sync_wait(then(one({}), [](int n) -> task<int> { co_return n + co_await one({}); })) == 2);
  auto [tx, rx] = make_oneshot<std::unique_ptr<int>>();
  tx.send(std::make_unique<int>(7));
  CHECK(sync_wait(then(or_throw(rx.receive()), [](std::unique_ptr<int> p) { return *p; })) == 7);
  const auto text = std::make_shared<std::string>("captured");
  CHECK(sync_wait(invoke([text]() -> task<std::size_t> { co_return text->size(); })) == 8);
  CHECK(text.use_count() == 1);
  CHECK(counted::live == 0);
}

TEST_CASE("invoke takes arguments as spawn does: stored, by reference where std::ref says so, members too") {
  struct account {
    int balance = 0;
    task<int> deposit(int amount, int& seen) {
      co_await yield();
      balance += amount;
      seen = balance;
      co_return balance;
    }
  } mine;
  int seen = 0;
  auto first = hocket::invoke(&account::deposit, &mine, 5, std::ref(seen));
  CHECK(mine.balance == 0);
  CHECK(sync_wait(std::move(first)) == 5);
  CHECK(seen == 5);
}

TEST_CASE("continuations of a group that never begin are given up, with the tasks in them") {
  auto group = []() -> task<> {
    auto all = when_all(fails(), then(one({}), [kept = counted()](int) {}),
                        then(one({}), [kept = counted()](int) -> task<> { co_return; }), depth.with(1, one({})),
                        shielded(one({})), invoke([kept = counted()]() { return one({}); }),
                        then(when_all(one({}), one({})), [](auto) -> task<> { co_return; }));
    static_cast<void>(co_await std::move(all));
  };
  CHECK_THROWS_AS(sync_wait(group()), std::runtime_error);
  CHECK(counted::live == 0);
}

TEST_CASE("a continuation that is discarded discards what it would have awaited") {
  then(one({}), [](int) {}).discard();
  then(one({}), [](int) -> task<> { co_return; }).discard();
  depth.with(1, one({})).discard();
  or_throw(make_oneshot<int>().receiver.receive()).discard();
  CHECK(counted::live == 0);
}

TEST_CASE("a continuation that is forgotten is found, as the task in it would be" *
          doctest::skip(!detail::debug_checks)) {
  expect_fatal([] { static_cast<void>(then(one({}), [](int) {})); }, "destroyed without being awaited");
}
