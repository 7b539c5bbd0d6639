// Scopes, for every kind that awaits tasks: by in_scope, and by their brace where the destructor may wait. The children
// are tasks.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/sync/event.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <stdexcept>
#include <string>

namespace hocket_test {

// In how many ways a coroutine of this kind can be in a scope. A scope cannot lie on a stack that others use meanwhile.
template <class Kind>
inline constexpr bool can_leave_braces =
    !std::is_same_v<typename Kind::body, hocket::task<>> && !requires { typename Kind::shares_its_stack; };
template <class Kind>
inline constexpr int ways_of_scope = can_leave_braces<Kind> ? 2 : 1;

template <class Kind, class F>
void in_braces([[maybe_unused]] F& body) {
  if constexpr (can_leave_braces<Kind>) {
    hocket::scope all;
    auto work = body(all);
    Kind::await(std::move(work));
  }
}

struct scope_notes {
  hocket::event never;
  std::atomic<int> live{0}, ended{0}, cancelled{0};
};
struct live_in_scope {
  explicit live_in_scope(scope_notes& in) : notes(in) { ++notes.live; }
  ~live_in_scope() { --notes.live; }
  live_in_scope(const live_in_scope&) = delete;
  live_in_scope& operator=(const live_in_scope&) = delete;
  scope_notes& notes;
};
inline hocket::task<> waits_in_scope(scope_notes& notes) {
  live_in_scope here(notes);
  auto got = co_await notes.never.wait();
  if (!got && got.error() == std::errc::operation_canceled) ++notes.cancelled;
}
inline hocket::task<> yields_in_scope(scope_notes& notes) {
  live_in_scope here(notes);
  for (int i = 0; i < 3; ++i) co_await hocket::yield();
  ++notes.ended;
}
inline hocket::task<> throws_in_scope(const char* what) {
  co_await hocket::yield();
  throw std::runtime_error(what);
}

// What runs in the scope.
struct leaves_two {
  scope_notes& notes;
  hocket::task<> operator()(hocket::scope& all) {
    spawn(all, yields_in_scope, std::ref(notes));
    spawn(all, yields_in_scope, std::ref(notes));
    co_return;
  }
};
struct throws_beside_two {
  scope_notes& notes;
  hocket::task<> operator()(hocket::scope& all) {
    spawn(all, waits_in_scope, std::ref(notes));
    spawn(all, waits_in_scope, std::ref(notes));
    co_await hocket::yield();
    throw std::runtime_error("the body");
  }
};
struct joins_one_that_throws {
  scope_notes& notes;
  hocket::task<> operator()(hocket::scope& all) {
    spawn(all, waits_in_scope, std::ref(notes));
    auto failing = spawn(all, throws_in_scope, "a child");
    co_await failing;
  }
};
struct waits_beside_two {
  scope_notes& notes;
  hocket::task<> operator()(hocket::scope& all) {
    spawn(all, waits_in_scope, std::ref(notes));
    spawn(all, waits_in_scope, std::ref(notes));
    co_await waits_in_scope(notes);
  }
};

TEST_CASE_TEMPLATE("a scope that is left waits for its children", Kind, HOCKET_TASK_KINDS) {
  for (int way = 0; way < ways_of_scope<Kind>; ++way) {
    scope_notes notes;
    int seen = 0;
    Kind world;
    auto parent = [&]() -> typename Kind::body {
      leaves_two body{notes};
      if (way == 0) co_await hocket::in_scope(body);
      else in_braces<Kind>(body);
      seen = notes.ended;
    };
    int only = world.start(parent);
    world.settle();
    CHECK(world.ended(only) == fate::ended);
    CHECK(seen == 2);
  }
}

// What a child does to the scope that it is in: the scope is there until it has ended, and so after the call.
struct is_cancelled_by_a_child {
  scope_notes& notes;
  static hocket::task<> cancels(scope_notes& notes, hocket::scope& own) {
    live_in_scope here(notes);
    co_await hocket::yield();
    own.cancel();
    own.cancel();
    if ((co_await notes.never.wait()).error() == std::errc::operation_canceled) ++notes.cancelled;
  }
  hocket::task<> operator()(hocket::scope& all) {
    spawn(all, waits_in_scope, std::ref(notes));
    spawn(all, cancels, std::ref(notes), std::ref(all));
    co_return;
  }
};

TEST_CASE_TEMPLATE("a child may cancel the scope that it is in", Kind, HOCKET_TASK_KINDS) {
  for (int way = 0; way < ways_of_scope<Kind>; ++way) {
    scope_notes notes;
    int live = -1;
    Kind world;
    auto parent = [&]() -> typename Kind::body {
      is_cancelled_by_a_child body{notes};
      if (way == 0) co_await hocket::in_scope(body);
      else in_braces<Kind>(body);
      live = notes.live;
    };
    int only = world.start(parent);
    world.settle();
    CHECK(world.ended(only) == fate::ended);
    CHECK(live == 0);
    CHECK(notes.cancelled == 2);
  }
}

// What is thrown in the body, or received there from a child, goes on when the children that are left have ended.
template <class Kind, class Body>
void check_left_by_exception(const std::string& expected, int cancelled) {
  for (int way = 0; way < ways_of_scope<Kind>; ++way) {
    scope_notes notes;
    std::string thrown;
    int live = -1;
    Kind world;
    auto parent = [&]() -> typename Kind::body {
      Body body{notes};
      try {
        if (way == 0) co_await hocket::in_scope(body);
        else in_braces<Kind>(body);
      } catch (const std::runtime_error& error) {
        thrown = error.what();
        live = notes.live;
      }
    };
    int only = world.start(parent);
    world.settle();
    CHECK(world.ended(only) == fate::ended);
    CHECK(thrown == expected);
    CHECK(live == 0);
    CHECK(notes.cancelled == cancelled);
  }
}

TEST_CASE_TEMPLATE("a body that throws cancels the children of its scope, which end first", Kind, HOCKET_TASK_KINDS) {
  check_left_by_exception<Kind, throws_beside_two>("the body", 2);
}

TEST_CASE_TEMPLATE("so does an exception of a child that is received there", Kind, HOCKET_TASK_KINDS) {
  check_left_by_exception<Kind, joins_one_that_throws>("a child", 1);
}

TEST_CASE_TEMPLATE("who is cancelled in a scope is so with its children", Kind, HOCKET_TASK_KINDS) {
  for (int way = 0; way < ways_of_scope<Kind>; ++way) {
    scope_notes notes;
    int live = -1;
    Kind world;
    auto parent = [&]() -> typename Kind::body {
      waits_beside_two body{notes};
      if (way == 0) co_await hocket::in_scope(body);
      else in_braces<Kind>(body);
      live = notes.live;
    };
    int only = world.start(parent);
    world.settle();
    CHECK(notes.live == 3);
    world.cancel(only);
    world.settle();
    CHECK(world.ended(only) == fate::ended);
    CHECK(live == 0);
    CHECK(notes.cancelled == 3);
  }
}

TEST_CASE_TEMPLATE("who is killed in a scope is unwound when its children are", Kind, HOCKET_TASK_KINDS) {
  for (int way = 0; way < ways_of_scope<Kind>; ++way) {
    scope_notes notes;
    int live = -1;
    bool after = false;
    Kind world;
    struct at_end {
      ~at_end() { to = from; }
      int& to;
      const std::atomic<int>& from;
    };
    auto parent = [&]() -> typename Kind::body {
      at_end unwinding{live, notes.live};
      waits_beside_two body{notes};
      if (way == 0) co_await hocket::in_scope(body);
      else in_braces<Kind>(body);
      after = true;
    };
    int only = world.start(parent);
    world.settle();
    world.kill(only);
    world.settle();
    CHECK(world.ended(only) == fate::killed);
    CHECK(live == 0);
    CHECK(notes.cancelled == 0);
    CHECK_FALSE(after);
  }
}

}  // namespace hocket_test
