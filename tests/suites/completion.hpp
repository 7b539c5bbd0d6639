// The completion, for every kind.
#pragma once
#include <hocket/sync/completion.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

namespace hocket_test {

template <class Kind, class T = void, class Hooks = hocket::no_hooks>
using completion_of = hocket::basic_completion<typename Kind::strength, T, Hooks>;

TEST_CASE_TEMPLATE("a completion gives one value to all who wait, and to who comes later", Kind, HOCKET_SUITE_KINDS) {
  completion_of<Kind, std::unique_ptr<int>> answer;
  record_of<Kind, const std::unique_ptr<int>*> got;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto value = co_await answer.wait();
    got.push_back(&*value);
  };
  for (int i = 0; i < 3; ++i) world.start(wait);
  world.settle();
  CHECK(got.empty());
  CHECK_FALSE(answer.is_ready());
  CHECK_FALSE(answer.is_drained());
  CHECK(answer.complete(std::make_unique<int>(7)));
  CHECK_FALSE(answer.complete(std::make_unique<int>(8)));
  CHECK_FALSE(answer.fail(std::make_error_code(std::errc::io_error)));
  CHECK(answer.is_ready());
  world.settle();
  world.start(wait);
  world.settle();
  REQUIRE(got.size() == 4);
  for (auto* one : got) CHECK(one == got[0]);
  CHECK(**got[0] == 7);
  CHECK(answer.is_drained());
}

TEST_CASE_TEMPLATE("a completion is used again and again", Kind, HOCKET_SUITE_KINDS) {
  completion_of<Kind, std::string> answer;
  std::vector<std::string> heard;
  Kind world;
  auto listen = [&]() -> typename Kind::body {
    for (int i = 0; i < 3; ++i) {
      auto word = co_await answer.wait();
      heard.push_back(*word);
      answer.reset();
    }
  };
  int only = world.start(listen);
  for (const char* word : {"one", "two that does not lie in the string itself", "three"}) {
    world.settle();
    CHECK(answer.complete(word));
  }
  world.settle();
  CHECK(heard == std::vector<std::string>{"one", "two that does not lie in the string itself", "three"});
  CHECK(world.ended(only) == fate::ended);
  answer.reset();
  CHECK_FALSE(answer.is_ready());
}

TEST_CASE_TEMPLATE("a completion of nothing tells that it has come, or the error", Kind, HOCKET_SUITE_KINDS) {
  completion_of<Kind> done;
  record_of<Kind, std::error_code> ends;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto got = co_await done.wait();
    ends.push_back(got ? std::error_code{} : got.error());
  };
  world.start(wait);
  world.settle();
  CHECK(done.complete());
  world.settle();
  done.reset();
  world.start(wait);
  world.start(wait);
  world.settle();
  CHECK(done.fail(std::make_error_code(std::errc::io_error)));
  world.settle();
  REQUIRE(ends.size() == 3);
  CHECK_FALSE(ends[0]);
  CHECK(ends[1] == std::errc::io_error);
  CHECK(ends[2] == std::errc::io_error);
}

TEST_CASE_TEMPLATE("who waits for an abandoned completion learns it", Kind, HOCKET_SUITE_KINDS) {
  completion_of<Kind, int> answer;
  record_of<Kind, std::error_code> ends;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto got = co_await answer.wait();
    ends.push_back(got ? std::error_code{} : got.error());
  };
  world.start(wait);
  world.settle();
  {
    auto dropped = answer.make_completer();
  }
  world.start(wait);
  world.settle();
  REQUIRE(ends.size() == 2);
  for (auto end : ends) CHECK(end == std::errc::broken_pipe);
}

TEST_CASE_TEMPLATE("a completer that comes late, or second, changes nothing", Kind, HOCKET_SUITE_KINDS) {
  completion_of<Kind, int> answer;
  auto first = answer.make_completer();
  auto second = answer.make_completer();
  CHECK(first.complete(1));
  CHECK_FALSE(static_cast<bool>(first));
  answer.reset();
  auto third = answer.make_completer();
  CHECK_FALSE(second.complete(2));
  CHECK_FALSE(answer.is_ready());
  second = answer.make_completer();
  first = std::move(third);
  answer.complete(3);
  CHECK_FALSE(first.fail(std::make_error_code(std::errc::io_error)));
  second = {};
  int got = 0;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto value = co_await answer.wait();
    got = *value;
  };
  world.start(wait);
  world.settle();
  CHECK(got == 3);
}

TEST_CASE_TEMPLATE("a round that was given up is reset: what comes late is of no round, and who waits goes on", Kind,
                   HOCKET_SUITE_KINDS) {
  completion_of<Kind, int> answer;
  auto late = answer.make_completer();
  int got = 0;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto value = co_await answer.wait();
    got = *value;
  };
  world.start(wait);
  world.settle();
  answer.reset();
  auto now = answer.make_completer();
  CHECK_FALSE(late.complete(1));
  world.settle();
  CHECK(got == 0);
  CHECK(now.complete(2));
  world.settle();
  CHECK(got == 2);
}

TEST_CASE_TEMPLATE("a wait for a completion is cancelled, timed and killed alone, and leaves the value", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  completion_of<Kind, int> answer;
  std::vector<std::error_code> ends(4);
  Kind world;
  auto wait = [&](std::size_t n, hocket::duration limit) -> typename Kind::body {
    auto got = co_await within(limit, answer.wait());
    if (!got) ends[n] = got.error();
  };
  int patient = world.start(wait, 0u, hocket::duration::max());
  int cancelled = world.start(wait, 1u, hocket::duration::max());
  int late = world.start(wait, 2u, 5ms);
  int killed = world.start(wait, 3u, hocket::duration(1s));
  world.settle();
  world.cancel(cancelled);
  world.kill(killed);
  world.pass(5ms);
  CHECK(ends[1] == std::errc::operation_canceled);
  CHECK(ends[2] == std::errc::timed_out);
  CHECK(world.ended(late) == fate::ended);
  CHECK(world.ended(killed) == fate::killed);
  CHECK_FALSE(answer.is_drained());
  answer.complete(7);
  world.settle();
  CHECK(world.ended(patient) == fate::ended);
  CHECK_FALSE(ends[0]);
  CHECK(answer.is_drained());
  answer.reset();
}

TEST_CASE_TEMPLATE("a completion may be destroyed by whoever it lets through", Kind, HOCKET_SUITE_KINDS) {
  auto answer = std::make_unique<completion_of<Kind, int>>();
  int got = 0;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto value = co_await answer->wait();
    got = *value;
    answer.reset();
  };
  world.start(wait);
  world.settle();
  answer->complete(7);
  world.settle();
  CHECK(answer == nullptr);
  CHECK(got == 7);
}

struct counting_hooks {
  std::atomic<int> suspended{0}, resumed{0};
  void on_suspend(auto&) { ++suspended; }
  void on_resume(auto&) { ++resumed; }
};
struct ask_when_wanted {
  int asked = 0;
  void on_suspend(auto& answer) {
    ++asked;
    answer.complete(asked * 10);
  }
};

TEST_CASE_TEMPLATE("hooks of a completion are told of every wait, and of its end", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  completion_of<Kind, int, counting_hooks> answer;
  hocket::basic_event<typename Kind::strength> other;
  Kind world;
  auto wait = [&](hocket::duration limit) -> typename Kind::body { (void)co_await within(limit, answer.wait()); };
  auto choose = [&]() -> typename Kind::body { (void)co_await select(answer.wait(), other.wait()); };
  world.start(wait, hocket::duration(1s));
  world.start(wait, hocket::duration(5ms));
  int victim = world.start(wait, hocket::duration(1s));
  world.start(choose);
  world.settle();
  CHECK(answer.hooks().suspended == 4);
  CHECK(answer.hooks().resumed == 0);
  world.kill(victim);
  world.pass(5ms);
  CHECK(answer.hooks().resumed == 2);
  other.set();
  world.settle();
  CHECK(answer.hooks().resumed == 3);
  answer.complete(1);
  world.settle();
  world.start(wait, hocket::duration(1s));
  world.settle();
  CHECK(answer.hooks().suspended == 4);
  CHECK(answer.hooks().resumed == 4);
}

TEST_CASE_TEMPLATE("a hook may complete what is waited for: then nobody suspends", Kind, HOCKET_SUITE_KINDS) {
  completion_of<Kind, int, ask_when_wanted> answer;
  std::vector<int> got;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto value = co_await answer.wait();
    got.push_back(*value);
    auto again = co_await answer.wait();
    got.push_back(*again);
  };
  int only = world.start(wait);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(got == std::vector{10, 10});
  answer.reset();
  world.start(wait);
  world.settle();
  CHECK(got == std::vector{10, 10, 20, 20});
}

}  // namespace hocket_test
