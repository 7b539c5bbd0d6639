// What is wrong with completions, and is found; and what they do where their values throw.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/sync/completion.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>

using namespace hocket;
using namespace hocket_test;

namespace {

struct fails_once {
  explicit fails_once(int n) : number(n) {}
  fails_once(fails_once&& other) : number(other.number) {
    if (armed) {
      armed = false;
      throw std::runtime_error("moved");
    }
  }
  int number;
  static inline bool armed = false;
};

script take(completion<int>& from, int& got) {
  auto value = co_await from.wait();
  got = *value;
}

}  // namespace

TEST_CASE("a value that throws when it is moved completes nothing") {
  completion<fails_once> answer;
  fails_once::armed = true;
  CHECK_THROWS_AS(answer.complete(fails_once(1)), std::runtime_error);
  CHECK_FALSE(answer.is_ready());
  CHECK(answer.complete(fails_once(2)));
  auto got = sync_wait(answer.wait());
  CHECK(got->number == 2);
  answer.reset();
  {
    auto done = answer.make_completer();
    fails_once::armed = true;
    CHECK_THROWS_AS(done.complete(fails_once(3)), std::runtime_error);
    CHECK(static_cast<bool>(done));
  }
  CHECK(sync_wait(answer.wait()).error() == std::errc::broken_pipe);
}

TEST_CASE("a completion that is reset before who was woken has looked is fatal") {
  expect_fatal(
      [] {
        stepped_executor on;
        completion<int> answer;
        int got = 0;
        auto waits = take(answer, got);
        waits.start(on);
        on.run();
        answer.complete(7);
        answer.reset();
      },
      "was reset while a woken waiter");
}

TEST_CASE("a completion that is destroyed while somebody waits is fatal") {
  expect_fatal(
      [] {
        stepped_executor on;
        int got = 0;
        auto answer = std::make_unique<completion<int>>();
        auto waits = take(*answer, got);
        waits.start(on);
        on.run();
        answer.reset();
      },
      "destroyed while it has a waiter");
}

TEST_CASE("a completer that was used is empty, and using it again is fatal") {
  completion<int> answer;
  auto done = answer.make_completer();
  done.complete(1);
  expect_fatal([&] { done.complete(2); }, "an empty completer was used");
}
