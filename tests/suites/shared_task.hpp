// Awaiting a shared task, for every kind. The body runs on an executor of its own, stepped by hand.
#pragma once
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"
#include "unit/coro/queue_executor.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace hocket_test {

inline hocket::shared_task<std::string> received(hocket::oneshot_receiver<std::string> from) {
  auto got = co_await from.receive();
  if (!got) throw std::runtime_error("broken off");
  co_return *got;
}

TEST_CASE_TEMPLATE("a shared task gives the same value to all who wait, in the order in which they came", Kind,
                   HOCKET_SUITE_KINDS) {
  queue_executor on;
  auto ends = hocket::make_oneshot<std::string>();
  auto shared = received(std::move(ends.receiver));
  shared.start(on);
  on.run();
  record_of<Kind, const void*> seen;
  record_of<Kind, int> order;
  Kind world;
  auto read = [&](int me) -> typename Kind::body {
    const std::string& text = co_await shared;
    seen.push_back(&text);
    order.push_back(me);
  };
  for (int me : {1, 2, 3}) world.start(read, me);
  world.settle();
  CHECK(order.empty());
  ends.sender.send("sent");
  on.run();
  if constexpr (takes_turns<Kind>) CHECK(order.empty());
  world.settle();
  world.start(read, 4);
  world.settle();
  CHECK(order == std::vector<int>{1, 2, 3, 4});
  for (const void* one : seen) CHECK(one == seen[0]);
}

TEST_CASE_TEMPLATE("an exception of a shared body comes out of every await", Kind, HOCKET_SUITE_KINDS) {
  queue_executor on;
  auto ends = hocket::make_oneshot<std::string>();
  auto shared = received(std::move(ends.receiver));
  shared.start(on);
  on.run();
  std::atomic<int> thrown{0};
  Kind world;
  auto read = [&]() -> typename Kind::body {
    try {
      static_cast<void>(co_await shared);
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  };
  world.start(read);
  world.start(read);
  world.settle();
  ends.sender = {};
  on.run();
  world.settle();
  CHECK(thrown == 2);
}

TEST_CASE_TEMPLATE("a wait for a shared task is cancelled, killed or timed alone", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  queue_executor on;
  auto ends = hocket::make_oneshot<std::string>();
  auto shared = received(std::move(ends.receiver));
  shared.start(on);
  on.run();
  std::vector<std::string> ended;
  Kind world;
  auto plain = [&]() -> typename Kind::body {
    auto got = co_await shared.wait();
    ended.push_back(got ? *got : "cancelled");
  };
  auto timed = [&]() -> typename Kind::body {
    auto got = co_await within(5ms, shared.wait());
    ended.push_back(got.error() == std::errc::timed_out ? "late" : "?");
  };
  int cancelled = world.start(plain), killed = world.start(plain);
  world.start(timed);
  world.start(plain);
  world.settle();
  world.cancel(cancelled);
  world.settle();
  world.kill(killed);
  world.pass(5ms);
  ends.sender.send("value");
  on.run();
  world.settle();
  CHECK(world.ended(killed) == fate::killed);
  CHECK(ended == std::vector<std::string>{"cancelled", "late", "value"});
}

TEST_CASE_TEMPLATE("a shared task stands in a select", Kind, HOCKET_SUITE_KINDS) {
  queue_executor on;
  auto ends = hocket::make_oneshot<std::string>();
  auto never = hocket::make_oneshot<int>();
  auto shared = received(std::move(ends.receiver));
  shared.start(on);
  on.run();
  std::size_t chosen = 7;
  Kind world;
  auto read = [&]() -> typename Kind::body {
    auto choice = co_await hocket::select(never.receiver.receive(), shared.wait());
    chosen = choice->index();
  };
  world.start(read);
  world.settle();
  ends.sender.send("value");
  on.run();
  world.settle();
  CHECK(chosen == 1);
}

}  // namespace hocket_test
