// The oneshot, for every kind.
#pragma once
#include <hocket/coro/oneshot.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>

namespace hocket_test {

template <class Kind, class T>
auto oneshot_of() {
  if constexpr (std::is_same_v<typename Kind::strength, hocket::strength::unsync>) {
    return hocket::unsync::make_oneshot<T>();
  } else {
    return hocket::make_oneshot<T>();
  }
}

TEST_CASE_TEMPLATE("a oneshot gives what is sent, before or after it is waited for", Kind, HOCKET_SUITE_KINDS) {
  for (bool send_first : {true, false}) {
    auto ends = oneshot_of<Kind, std::unique_ptr<int>>();
    std::optional<int> got;
    Kind world;
    auto receive = [&]() -> typename Kind::body {
      auto value = co_await ends.receiver.receive();
      got = **value;
    };
    if (send_first) CHECK(ends.sender.send(std::make_unique<int>(7)));
    world.start(receive);
    world.settle();
    if (!send_first) {
      CHECK_FALSE(got);
      CHECK_FALSE(ends.receiver.is_ready());
      CHECK(ends.sender.send(std::make_unique<int>(7)));
      world.settle();
    }
    CHECK(got == 7);
    CHECK_FALSE(static_cast<bool>(ends.sender));
  }
}

TEST_CASE_TEMPLATE("a oneshot of nothing tells that it was sent", Kind, HOCKET_SUITE_KINDS) {
  auto ends = oneshot_of<Kind, void>();
  bool told = false;
  Kind world;
  auto receive = [&]() -> typename Kind::body {
    auto got = co_await ends.receiver.receive();
    told = got.has_value();
  };
  world.start(receive);
  world.settle();
  CHECK_FALSE(told);
  ends.sender.send();
  world.settle();
  CHECK(told);
}

TEST_CASE_TEMPLATE("a receiver learns that nothing will come", Kind, HOCKET_SUITE_KINDS) {
  for (bool drop_first : {true, false}) {
    auto ends = oneshot_of<Kind, std::string>();
    std::error_code error;
    Kind world;
    auto receive = [&]() -> typename Kind::body {
      auto got = co_await ends.receiver.receive();
      error = got.error();
    };
    if (drop_first) ends.sender = {};
    world.start(receive);
    world.settle();
    ends.sender = {};
    world.settle();
    CHECK(error == std::errc::broken_pipe);
    CHECK(ends.receiver.is_ready());
  }
}

TEST_CASE_TEMPLATE("what was received once is not received again", Kind, HOCKET_SUITE_KINDS) {
  auto ends = oneshot_of<Kind, int>();
  ends.sender.send(7);
  Kind world;
  auto receive = [&]() -> typename Kind::body {
    auto seven = co_await ends.receiver.receive();
    CHECK(*seven == 7);
    auto again = co_await ends.receiver.receive();
    CHECK(again.error() == std::errc::broken_pipe);
  };
  int only = world.start(receive);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("a sender learns that nobody will receive", Kind, HOCKET_SUITE_KINDS) {
  auto ends = oneshot_of<Kind, std::string>();
  CHECK_FALSE(ends.sender.is_closed());
  ends.receiver = {};
  CHECK(ends.sender.is_closed());
  CHECK_FALSE(ends.sender.send("a string that lives on the heap, to be destroyed"));
  auto unheard = oneshot_of<Kind, std::string>();
  CHECK(unheard.sender.send("another one that is sent in time and still received by nobody"));
  unheard.receiver = {};
}

TEST_CASE_TEMPLATE("fault 12: a receive that ends without the value leaves it for the next one", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  auto ends = oneshot_of<Kind, int>();
  std::optional<int> got;
  Kind world;
  auto receive = [&]() -> typename Kind::body {
    auto first = co_await within(5ms, ends.receiver.receive());
    CHECK(first.error() == std::errc::timed_out);
    auto second = co_await within(5ms, ends.receiver.receive());
    CHECK(second.error() == std::errc::timed_out);
    auto seven = co_await within(5ms, ends.receiver.receive());
    got = *seven;
  };
  world.start(receive);
  world.settle();
  world.pass(5ms);
  world.pass(5ms);
  world.pass(4ms);
  CHECK_FALSE(got);
  ends.sender.send(7);
  world.pass(1ms);
  CHECK(got == 7);
}

TEST_CASE_TEMPLATE("fault 12: a value that was granted to one who is killed is still there", Kind, HOCKET_SUITE_KINDS) {
  auto ends = oneshot_of<Kind, int>();
  Kind world;
  auto receive = [&]() -> typename Kind::body { (void)co_await ends.receiver.receive(); };
  int victim = world.start(receive);
  world.settle();
  world.kill(victim);
  ends.sender.send(7);
  world.settle();
  CHECK(world.ended(victim) == fate::killed);
  auto again = [&]() -> typename Kind::body {
    auto seven = co_await ends.receiver.receive();
    CHECK(*seven == 7);
  };
  int next = world.start(again);
  world.settle();
  CHECK(world.ended(next) == fate::ended);
}

}  // namespace hocket_test
