// What a coroutine inherits, for each way to begin it: the rows of the table in docs/waits.md. The program declares
// hocket_test::spawn_body before it includes this, as for suites/daemons.hpp.
#pragma once
#include <hocket/core/post.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <utility>

namespace hocket_test {

// The origin of a part: the code that begins the coroutine, its target, or neither.
enum class from : std::uint8_t { caller, target, none };

struct inherited {
  std::string name;
  bool is_stopped = false;  // its caller was cancelled
  bool has_deadline = false;
  int value = 0;
};

inline hocket::context_local<int> bound_value;

// In a coroutine whose caller was cancelled.
inline inherited inspect() {
  const hocket::context& ctx = hocket::current_context();
  const int* value = bound_value.get();
  return {ctx.name(), ctx.stop() && ctx.stop()->requested() != hocket::stop_level::none,
          ctx.deadline() != hocket::time_point::max(), value ? *value : 0};
}

struct row {
  from name, stop, deadline, values;
};

inline void check_row(inherited& recorded, const row& expected, const char* way) {
  const inherited child = std::exchange(recorded, {});
  INFO(std::string(way));
  CHECK(child.name == (expected.name == from::caller   ? "request"
                       : expected.name == from::target ? "place"
                                                       : "unnamed"));
  CHECK(child.is_stopped == (expected.stop == from::caller));
  CHECK(child.has_deadline == (expected.deadline == from::caller));
  CHECK(child.value == (expected.values == from::caller ? 7 : 0));
}

inline void cancel_request() { hocket::current_context().coroutine()->request(hocket::stop_level::cancel); }

// Runs `way` in a coroutine that has a name, a deadline and a value, and is cancelled.
template <class Executor, class F>
void in_request(Executor& place, F way, bool cancels = true) {
  auto inner = [&]() -> hocket::task<> {
    if (cancels) cancel_request();
    co_await way();
  };
  auto body = [&]() -> hocket::task<> { co_await bound_value.with(7, inner()); };
  hocket::detail::options_in<Executor> options{};
  options.name = "request";
  options.within = std::chrono::hours(1);
  auto handle = spawn_body(place, options, body);
  if constexpr (std::is_same_v<Executor, hocket::loop>) place.run();
  static_cast<void>(hocket::sync_wait(handle.join()));  // some ways end by the cancellation
}

inline hocket::task<> inspect_later(inherited& child) {
  child = inspect();
  co_return;
}
inline hocket::eager_task<> inspect_eagerly(inherited& child) {
  child = inspect();
  co_return;
}
inline hocket::async_generator<int> inspect_in_generator(inherited& child) {
  child = inspect();
  co_yield 1;
}

inline constexpr row of_caller{from::caller, from::caller, from::caller, from::caller};
inline constexpr row of_target{from::target, from::target, from::none, from::caller};

// A child that runs later than its caller, which cannot wait for it: it is cancelled.
struct late_child {
  inherited child;
  std::atomic<bool> done{false};

  hocket::task<> operator()() {
    record();
    co_return;
  }
  void record() {
    child = inspect();
    done = true;
    done.notify_all();
  }
  template <class Executor>
  void finish(Executor& place) {
    if constexpr (std::is_same_v<Executor, hocket::loop>) place.run();
    done.wait(false);
    done = false;
  }
};

inline hocket::shared_task<int> inspect_shared(late_child& later) {
  later.record();
  co_return 1;
}

template <class Executor>
void check_awaited(Executor& place) {
  inherited child;
  in_request(place, [&]() -> hocket::task<> { co_await inspect_later(child); });
  check_row(child, of_caller, "an awaited task");

  auto cancel_and_inspect = [&]() -> hocket::task<> {
    cancel_request();
    co_await inspect_later(child);
  };
  in_request(place, [&]() -> hocket::task<> { co_await hocket::when_all(cancel_and_inspect()); }, false);
  check_row(child, of_caller, "a child of when_all");

  in_request(place, [&]() -> hocket::task<> { co_await hocket::fork_join(cancel_and_inspect()); }, false);
  check_row(child, of_caller, "a fork");

  in_request(place, [&]() -> hocket::task<> { co_await inspect_eagerly(child); });
  check_row(child, of_caller, "an eager_task");

  in_request(place, [&]() -> hocket::task<> {
    auto all = inspect_in_generator(child);
    static_cast<void>(co_await all.next());
  });
  check_row(child, of_caller, "the body of a generator");
}

template <class Executor>
void check_children_of_scopes(Executor& place) {
  late_child later;
  in_request(place, [&]() -> hocket::task<> {
    auto body = [&](hocket::scope& all) -> hocket::task<> {
      hocket::spawn(all, std::ref(later));
      co_return;
    };
    co_await hocket::in_scope(body);
  });
  later.finish(place);
  check_row(later.child, of_caller, "spawn on a scope");

  in_request(place, [&]() -> hocket::task<> {
    auto nested = [&]() -> hocket::task<> {
      hocket::spawn(std::ref(later));
      co_return;
    };
    auto body = [&](hocket::scope& all) -> hocket::task<> {
      hocket::spawn(all, std::ref(nested));
      co_return;
    };
    co_await hocket::in_scope(body);
  });
  later.finish(place);
  check_row(later.child, of_caller, "spawn without a target, by a child of a scope");
}

template <class Executor>
void check_spawned(Executor& place) {
  late_child later;
  in_request(place, [&]() -> hocket::task<> {
    hocket::spawn(std::ref(later));
    co_return;
  });
  later.finish(place);
  check_row(later.child, of_target, "spawn without a target");

  in_request(place, [&]() -> hocket::task<> {
    hocket::spawn(place, std::ref(later));
    co_return;
  });
  later.finish(place);
  check_row(later.child, of_target, "spawn on a loop or a runtime");

  in_request(place, [&]() -> hocket::task<> {
    hocket::spawn(place, hocket::spawn_options{.daemon = true}, std::ref(later));
    co_return;
  });
  later.finish(place);
  check_row(later.child, of_target, "spawn of a daemon");
}

template <class Executor>
void check_bodies_of_the_target(Executor& place) {
  late_child later;
  {
    auto shared = inspect_shared(later);
    in_request(place, [&]() -> hocket::task<> {
      shared.start(place);
      co_return;
    });
    later.finish(place);
  }
  check_row(later.child, {from::target, from::target, from::none, from::none}, "the body of a shared_task");

  in_request(place, [&]() -> hocket::task<> {
    CHECK(!hocket::post(place, [&] { later.record(); }));
    co_return;
  });
  later.finish(place);
  check_row(later.child, {from::target, from::target, from::none, from::none}, "a job");
}

template <class Executor>
void check_all(Executor& place) {
  check_awaited(place);
  check_children_of_scopes(place);
  check_spawned(place);
  check_bodies_of_the_target(place);
}

TEST_CASE("a coroutine inherits what the table of waits says, on a loop") {
  hocket::loop place({.name = "place"});
  check_all(place);
}

TEST_CASE("a coroutine inherits what the table of waits says, on a runtime") {
  hocket::runtime place({.workers = 2, .name = "place"});
  check_all(place);
}

TEST_CASE("a call of blocking inherits nothing") {
  hocket::loop place({.name = "place"});
  inherited child;
  auto body = [&]() -> hocket::task<> {
    auto inner = [&]() -> hocket::task<> { static_cast<void>(co_await hocket::blocking([&] { child = inspect(); })); };
    co_await bound_value.with(7, inner());
  };
  auto handle = spawn_body(place, hocket::spawn_options{.name = "request", .within = std::chrono::hours(1)}, body);
  place.run();
  CHECK(handle.done());
  check_row(child, {from::none, from::none, from::none, from::none}, "blocking");
}

// --- the time

TEST_CASE("now() is the time of the running executor") {
  hocket::manual_clock clock{hocket::time_point(std::chrono::hours(5))};
  hocket::time_point time{};
  auto body = [&]() -> hocket::task<> {
    time = hocket::now();
    co_return;
  };
  {
    hocket::loop place({.clock = &clock});
    spawn_body(place, hocket::spawn_options{}, body);
    place.run();
    CHECK(time == clock.now());
  }
  {
    clock.advance(std::chrono::hours(1));
    hocket::runtime place({.workers = 2, .clock = &clock});
    auto handle = spawn_body(place, hocket::spawn_options{}, body);
    CHECK(hocket::sync_wait(handle.join()).has_value());
    CHECK(time == clock.now());
  }
}

TEST_CASE("now() is the machine's time on a thread that runs no coroutine") {
  const auto before = std::chrono::steady_clock::now();
  const hocket::time_point time = hocket::now();
  CHECK(time >= before);
  CHECK(time <= std::chrono::steady_clock::now());
}

TEST_CASE("a deadline that is computed from now() passes by the clock of the executor") {
  hocket::manual_clock clock{hocket::time_point(std::chrono::hours(5))};
  hocket::loop place({.clock = &clock});
  hocket::event never;
  std::error_code error;
  auto body = [&]() -> hocket::task<> {
    const hocket::time_point end = hocket::now() + std::chrono::seconds(2);
    auto set = co_await hocket::within(end, never.wait());
    error = set ? std::error_code{} : set.error();
  };
  auto handle = spawn_body(place, hocket::spawn_options{}, body);
  place.run_for(std::chrono::seconds(0));
  clock.advance(std::chrono::seconds(1));
  place.run_for(std::chrono::seconds(0));
  CHECK(!handle.done());
  clock.advance(std::chrono::seconds(1));
  place.run_for(std::chrono::seconds(0));
  CHECK(handle.done());
  CHECK(error == std::errc::timed_out);
}

}  // namespace hocket_test
