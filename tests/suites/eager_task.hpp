// Awaiting an eager task, for every kind. The body runs on an executor of its own, stepped by hand.
#pragma once
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/oneshot.hpp>

#include "suites/world.hpp"
#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <stdexcept>

namespace hocket_test {

// An eager task that has begun on `on` and gives what is sent.
class begun_eagerly {
 public:
  explicit begun_eagerly(queue_executor& on) : on_(on) { on_.run(); }
  hocket::eager_task<std::unique_ptr<int>> task;

  void send(int n) {
    ends_.sender.send(n);
    on_.run();
  }
  void break_off() {
    ends_.sender = {};
    on_.run();
  }

 private:
  foreign begin() {
    co_await hop_to(on_);
    task = receive();
  }
  hocket::eager_task<std::unique_ptr<int>> receive() {
    auto got = co_await ends_.receiver.receive();
    if (!got) throw std::runtime_error("broken off");
    co_return std::make_unique<int>(*got);
  }

  queue_executor& on_;
  hocket::oneshot<int> ends_ = hocket::make_oneshot<int>();
  foreign begin_ = begin();
};

TEST_CASE_TEMPLATE("an eager task is awaited before and after its end", Kind, HOCKET_SUITE_KINDS) {
  for (bool end_first : {true, false}) {
    queue_executor on;
    begun_eagerly begun(on);
    std::optional<int> got;
    Kind world;
    auto read = [&]() -> typename Kind::body {
      auto value = co_await std::move(begun.task);
      got = *value;
      CHECK_FALSE(begun.task);
    };
    if (end_first) begun.send(7);
    CHECK(begun.task.is_ready() == end_first);
    world.start(read);
    world.settle();
    CHECK(got.has_value() == end_first);
    if (!end_first) begun.send(7);
    if constexpr (takes_turns<Kind>) CHECK(got.has_value() == end_first);
    world.settle();
    CHECK(got == 7);
  }
}

TEST_CASE_TEMPLATE("an exception of an eager body comes out of the await", Kind, HOCKET_SUITE_KINDS) {
  queue_executor on;
  begun_eagerly begun(on);
  bool thrown = false;
  Kind world;
  auto read = [&]() -> typename Kind::body {
    try {
      auto value = co_await std::move(begun.task);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
  };
  world.start(read);
  world.settle();
  begun.break_off();
  world.settle();
  CHECK(thrown);
}

TEST_CASE_TEMPLATE("a wait for an eager task outlasts a kill", Kind, HOCKET_SUITE_KINDS) {
  queue_executor on;
  begun_eagerly begun(on);
  std::optional<int> got;
  Kind world;
  auto read = [&]() -> typename Kind::body {
    auto value = co_await std::move(begun.task);
    got = *value;
  };
  int victim = world.start(read);
  world.settle();
  world.kill(victim);
  world.settle();
  CHECK(world.ended(victim) == fate::running);
  begun.send(7);
  world.settle();
  CHECK(got == 7);
}

}  // namespace hocket_test
