// context_local and shielded, for every kind that awaits tasks.
#pragma once
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace hocket_test {

inline hocket::context_local<std::string> bound_word;
inline hocket::context_local<int> bound_number;
inline std::string heard() {
  return (bound_word.get() ? *bound_word : "-") + (bound_number.get() ? std::to_string(*bound_number) : "-");
}
inline hocket::task<std::string> heard_late() {
  co_await hocket::yield();
  std::string first = heard();
  co_await hocket::yield();
  CHECK(heard() == first);
  co_return first;
}
inline hocket::task<std::string> heard_nested() {
  auto inner = bound_number.with(2, heard_late());
  std::string nested = co_await std::move(inner);
  co_return nested + co_await heard_late();
}
inline hocket::task<> throws_late() {
  co_await hocket::yield();
  throw std::runtime_error("inside");
}
// Callables with names, here and below: g++ warns of frames with members of the type of a lambda in a header.
struct hears_with_capture {
  std::string kept;
  hocket::task<std::string> operator()() {
    co_await hocket::yield();
    co_return kept + heard();
  }
};
inline hocket::eager_task<std::string> heard_eagerly() {
  const std::string first = heard();
  co_await hocket::yield();
  co_return first + heard();
}

inline hocket::task<std::string> hears_eagerly() {
  auto begun = heard_eagerly();
  co_return co_await std::move(begun);
}
inline hocket::task<std::string> hears_in_group() {
  auto all = when_all(heard_late(), bound_word.with("mine", heard_late()), bound_number.with(7, heard_nested()));
  auto [a, b, c] = co_await std::move(all);
  co_return a + b + c;
}

TEST_CASE_TEMPLATE("a bound value is seen by what is awaited under it, and by nothing else", Kind, HOCKET_TASK_KINDS) {
  std::vector<std::string> all;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    all.push_back(heard());
    auto bound = bound_word.with("one", heard_nested());
    all.push_back(heard());
    std::string nested = co_await std::move(bound);
    all.push_back(std::move(nested));
    all.push_back(heard());
    auto called = bound_word.with("called", hears_with_capture{"kept"});
    std::string kept = co_await std::move(called);
    all.push_back(std::move(kept));
    auto failing = bound_word.with("gone", throws_late());
    try {
      co_await std::move(failing);
    } catch (const std::runtime_error&) {
      all.push_back(heard());
    }
  };
  world.start(body);
  world.settle();
  CHECK(all == std::vector<std::string>{"--", "--", "one2one-", "--", "keptcalled-", "--"});
}

TEST_CASE_TEMPLATE("a value bound for a callable is seen by what it calls and starts", Kind, HOCKET_TASK_KINDS) {
  std::vector<std::string> all;
  hocket::basic_event<hocket::strength::shared> go;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    const int three = bound_number.with(3, [&] {
      bound_word.with("in", [&] { all.push_back(heard()); });
      all.push_back(heard());
      return 3;
    });
    CHECK(three == 3);
    auto eager = bound_word.with("eager", &hears_eagerly);
    all.push_back(heard());
    std::string twice = co_await std::move(eager);
    all.push_back(std::move(twice));
    try {
      bound_word.with("gone", [] { throw std::runtime_error("inside"); });
    } catch (const std::runtime_error&) {
    }
    all.push_back(heard());
  };
  world.start(body);
  world.settle();
  CHECK(all == std::vector<std::string>{"in3", "-3", "--", "eager-eager-", "--"});
}

TEST_CASE_TEMPLATE("children of a group see what is bound around it, and bind for themselves", Kind,
                   HOCKET_TASK_KINDS) {
  std::string all;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto bound = bound_word.with("all", hears_in_group());
    all = co_await std::move(bound);
    CHECK(heard() == "--");
  };
  world.start(body);
  world.settle();
  CHECK(all == "all-mine-all2all7");
}

// --- shielded

inline hocket::task<std::error_code> waits_for(hocket::basic_event<hocket::strength::shared>& gate,
                                               hocket::duration limit) {
  auto opened = co_await within(limit, gate.wait());
  co_return opened ? std::error_code() : opened.error();
}

struct cleans_up {
  hocket::basic_event<hocket::strength::shared>& gate;
  std::vector<std::error_code>& ends;
  std::string& inside;
  hocket::task<> operator()() {
    inside = heard();
    auto both = when_all(waits_for(gate, hocket::duration::max()), waits_for(gate, hocket::duration::max()));
    auto [a, b] = co_await std::move(both);
    ends = {a, b};
  }
};

TEST_CASE_TEMPLATE("what is shielded is not cancelled, before or meanwhile, and its own deadlines hold", Kind,
                   HOCKET_TASK_KINDS) {
  using namespace std::chrono_literals;
  hocket::basic_event<hocket::strength::shared> first, gate, never;
  std::vector<std::error_code> ends;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto gone = co_await first.wait();
    ends.push_back(gone.error());
    auto cleanup = hocket::shielded(waits_for(gate, hocket::duration::max()));
    std::error_code clean = co_await std::move(cleanup);
    ends.push_back(clean);
    auto timed = hocket::shielded(waits_for(never, 5ms));
    std::error_code late = co_await std::move(timed);
    ends.push_back(late);
    auto again = co_await never.wait();
    ends.push_back(again.error());
  };
  int only = world.start(body);
  world.settle();
  world.cancel(only);
  world.settle();
  CHECK(ends.size() == 1);
  world.cancel(only);
  gate.set();
  world.settle();
  CHECK(ends.size() == 2);
  world.pass(5ms);
  CHECK(world.ended(only) == fate::ended);
  REQUIRE(ends.size() == 4);
  CHECK(ends[0] == std::errc::operation_canceled);
  CHECK_FALSE(ends[1]);
  CHECK(ends[2] == std::errc::timed_out);
  CHECK(ends[3] == std::errc::operation_canceled);
}

TEST_CASE_TEMPLATE("what is shielded is killed all the same", Kind, HOCKET_TASK_KINDS) {
  hocket::basic_event<hocket::strength::shared> never;
  bool ended = false;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto cleanup = hocket::shielded(waits_for(never, hocket::duration::max()));
    (void)co_await std::move(cleanup);
    ended = true;
  };
  int waits = world.start(body);
  int later = world.start(body);
  world.cancel(later);
  world.settle();
  CHECK_FALSE(ended);
  world.kill(waits);
  world.settle();
  CHECK(world.ended(waits) == fate::killed);
  CHECK(world.ended(later) == fate::running);
  world.kill(later);
  world.settle();
  CHECK(world.ended(later) == fate::killed);
  CHECK_FALSE(ended);
}

struct wait_at {
  hocket::basic_event<hocket::strength::shared>& gate;
  auto operator()() const { return gate.wait(); }
};

TEST_CASE_TEMPLATE("an operation that a callable returns is shielded while it is awaited", Kind, HOCKET_TASK_KINDS) {
  hocket::basic_event<hocket::strength::shared> gate;
  bool granted = false;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto wait = hocket::shielded(wait_at{gate});
    auto got = co_await std::move(wait);
    granted = got.has_value();
  };
  int waits = world.start(body);
  world.settle();
  world.cancel(waits);
  world.settle();
  CHECK_FALSE(granted);
  gate.set();
  world.settle();
  CHECK(granted);
}

TEST_CASE_TEMPLATE("a group is shielded, too, and bindings stay", Kind, HOCKET_TASK_KINDS) {
  hocket::basic_event<hocket::strength::shared> gate;
  std::vector<std::error_code> ends;
  std::string inside;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto bound = bound_word.with("here", hocket::shielded(cleans_up{gate, ends, inside}));
    co_await std::move(bound);
  };
  int only = world.start(body);
  world.settle();
  world.cancel(only);
  world.settle();
  CHECK(ends.empty());
  gate.set();
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  REQUIRE(ends.size() == 2);
  CHECK_FALSE(ends[0]);
  CHECK_FALSE(ends[1]);
  CHECK(inside == "here-");
}

}  // namespace hocket_test
