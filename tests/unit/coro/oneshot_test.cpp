// Misuse of a oneshot. The rest is a suite (tests/suites/oneshot.hpp).
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_all.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

task<> receives(oneshot_receiver<int>& from) {
  auto got = co_await from.receive();
  static_cast<void>(got);
}
task<> drops(oneshot_receiver<int>& receiver) {
  co_await yield();
  receiver = {};
}

}  // namespace

TEST_CASE("a sender is empty when it has sent or was moved from, and an empty one is fatal") {
  auto ends = make_oneshot<int>();
  CHECK(ends.sender.send(1));
  expect_fatal([&] { ends.sender.send(2); }, "an empty oneshot_sender was used");
  expect_fatal([&] { static_cast<void>(ends.sender.is_closed()); }, "an empty oneshot_sender was used");
  auto nothing = make_oneshot<>();
  oneshot_sender<void> other = std::move(nothing.sender);
  expect_fatal([&] { nothing.sender.send(); }, "an empty oneshot_sender was used");
}

TEST_CASE("a receiver that was moved from is fatal to use") {
  auto ends = make_oneshot<int>();
  oneshot_receiver<int> other = std::move(ends.receiver);
  expect_fatal([&] { static_cast<void>(ends.receiver.is_ready()); }, "an empty oneshot_receiver was used");
  expect_fatal([&] { sync_wait(receives(ends.receiver)); }, "an empty oneshot_receiver was used");
}

TEST_CASE("two that receive from one oneshot at once are fatal") {
  auto ends = make_oneshot<int>();
  auto both = [&] { sync_wait(when_all(receives(ends.receiver), receives(ends.receiver))); };
  expect_fatal(both, "a oneshot is received by two at once");
}

TEST_CASE("a receiver that is destroyed while somebody waits for its value is fatal") {
  auto ends = make_oneshot<int>();
  auto both = [&] { sync_wait(when_all(receives(ends.receiver), drops(ends.receiver))); };
  expect_fatal(both, "a oneshot's receiver was destroyed while it waits");
}
