// Daemons (core/spawn/seam/daemon_group.hpp), on every target. The program declares before it includes this:
//
//   template <class Target, class Options, class F>
//   hocket::join_handle<> hocket_test::spawn_body(Target&, const Options&, F& body);   // body() returns a task
//
// which spawns a task or a fiber.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/manager/task_manager.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

namespace hocket_test {

// --- the targets, each with the end that drains it

class loop_with_daemons {
 public:
  static constexpr bool is_reusable = true;
  hocket::loop& target() { return lp_; }
  void end() { lp_.run(); }
  void run_until(const std::atomic<bool>& condition) {
    while (!condition) lp_.step();
  }
  std::size_t live() const { return lp_.live(); }

 private:
  hocket::loop lp_;
};

class runtime_with_daemons {
 public:
  static constexpr bool is_reusable = false;
  hocket::runtime& target() { return rt_; }
  void end() {
    CHECK(rt_.shutdown({.drain = hocket::duration::max(), .cancel = hocket::duration::max()}).remaining == 0);
  }
  void run_until(const std::atomic<bool>& condition) {
    while (!condition) std::this_thread::yield();
  }
  std::size_t live() const { return rt_.live(); }

 private:
  hocket::runtime rt_{{.workers = 2}};
};

class scope_on_loop : public loop_with_daemons {
 public:
  hocket::scope& target() { return all_; }
  void end() {
    auto join = [this]() -> hocket::task<> { (void)co_await all_.join(); };
    hocket::spawn(loop_with_daemons::target(), join);
    loop_with_daemons::end();
  }
  std::size_t live() const { return all_.size(); }

 private:
  hocket::scope all_{loop_with_daemons::target()};
};

class scope_on_runtime : public runtime_with_daemons {
 public:
  static constexpr bool is_reusable = true;
  hocket::scope& target() { return all_; }
  void end() { static_cast<void>(hocket::sync_wait(all_.join())); }
  std::size_t live() const { return all_.size(); }

 private:
  hocket::scope all_{runtime_with_daemons::target()};
};

class manager_on_loop : public loop_with_daemons {
 public:
  hocket::task_manager& target() { return tm_; }
  void end() {
    auto join = [this]() -> hocket::task<> { static_cast<void>(co_await tm_.join()); };
    hocket::spawn(loop_with_daemons::target(), join);
    loop_with_daemons::end();
  }
  std::size_t live() const { return tm_.size(); }

 private:
  hocket::task_manager tm_{loop_with_daemons::target()};
};

class manager_on_runtime : public runtime_with_daemons {
 public:
  static constexpr bool is_reusable = true;
  hocket::task_manager& target() { return tm_; }
  void end() { CHECK(hocket::sync_wait(tm_.join()).has_value()); }
  std::size_t live() const { return tm_.size(); }

 private:
  hocket::task_manager tm_{runtime_with_daemons::target()};
};

// --- the bodies

template <class Target, class F>
auto spawn_daemon(Target& target, F& body) {
  hocket::detail::options_in<Target> options{};
  options.name = "ticker";
  options.daemon = true;
  return spawn_body(target, options, body);
}
template <class Target, class F>
auto spawn_other(Target& target, F& body) {
  const hocket::detail::options_in<Target> options{};
  return spawn_body(target, options, body);
}

// Waits until it is cancelled, and runs `at_end`.
template <class F>
auto daemon_body(hocket::event& never, std::atomic<bool>& begun, F at_end) {
  return [&never, &begun, at_end]() -> hocket::task<> {
    begun = true;
    begun.notify_all();
    auto set = co_await never.wait();
    CHECK(set.error() == std::errc::operation_canceled);
    at_end();
  };
}

}  // namespace hocket_test

#define HOCKET_DAEMON_TARGETS                                                                    \
  hocket_test::loop_with_daemons, hocket_test::runtime_with_daemons, hocket_test::scope_on_loop, \
      hocket_test::scope_on_runtime, hocket_test::manager_on_loop, hocket_test::manager_on_runtime

namespace hocket_test {

TEST_CASE_TEMPLATE("a daemon holds no drain, and is cancelled when the last other coroutine has ended", Where,
                   HOCKET_DAEMON_TARGETS) {
  hocket::event never;
  std::atomic<bool> begun{false}, other_ended{false}, ended{false};
  auto ticks = daemon_body(never, begun, [&] {
    CHECK(other_ended);
    ended = true;
  });
  auto works = [&]() -> hocket::task<> {
    for (int i = 0; i < 100; ++i) co_await hocket::yield();
    other_ended = true;
  };
  Where where;
  spawn_daemon(where.target(), ticks);
  spawn_other(where.target(), works);
  where.end();
  CHECK(ended);
  CHECK(where.live() == 0);
}

TEST_CASE_TEMPLATE("a daemon runs while its target has no other coroutine", Where, HOCKET_DAEMON_TARGETS) {
  hocket::event never, request;
  std::atomic<bool> begun{false}, answered{false};
  auto answers = [&]() -> hocket::task<> {
    begun = true;
    auto set_first = co_await request.wait();
    answered = set_first.has_value();
    auto set = co_await never.wait();
    CHECK(set.error() == std::errc::operation_canceled);
  };
  Where where;
  auto handle = spawn_daemon(where.target(), answers);
  where.run_until(begun);
  CHECK(where.live() == 1);
  request.set();
  where.run_until(answered);
  CHECK(!handle.done());
  where.end();
  CHECK(handle.done());
}

TEST_CASE_TEMPLATE("what a daemon spawns on its target holds the drain, also when the daemon ends", Where,
                   HOCKET_DAEMON_TARGETS) {
  hocket::event never;
  std::atomic<int> ended{0};
  std::atomic<bool> begun{false}, cancelled{false};
  auto works = [&]() -> hocket::task<> {
    for (int i = 0; i < 100; ++i) co_await hocket::yield();
    if (!cancelled) ++ended;  // the first was there before the daemon was cancelled
  };
  auto works_late = [&]() -> hocket::task<> {
    for (int i = 0; i < 100; ++i) co_await hocket::yield();
    ended += 10;
  };
  Where where;
  auto ticks = [&]() -> hocket::task<> {
    hocket::spawn(std::ref(works));
    begun = true;
    auto set = co_await never.wait();
    CHECK(set.error() == std::errc::operation_canceled);
    CHECK(ended == 1);
    cancelled = true;
    hocket::spawn(where.target(), std::ref(works_late));
  };
  spawn_daemon(where.target(), ticks);
  where.run_until(begun);
  where.end();
  CHECK(cancelled);
  // A runtime that is shut down refuses what its coroutines spawn.
  CHECK(ended == (std::is_same_v<Where, runtime_with_daemons> ? 1 : 11));
  CHECK(where.live() == 0);
}

TEST_CASE_TEMPLATE("the children of a daemon's scopes hold no drain, and end with the daemon", Where,
                   HOCKET_DAEMON_TARGETS) {
  hocket::event never;
  std::atomic<bool> begun{false};
  std::atomic<int> cancelled{0};
  auto waits = [&]() -> hocket::task<> {
    begun = true;
    auto set = co_await never.wait();
    if (!set && set.error() == std::errc::operation_canceled) ++cancelled;
  };
  auto ticks = [&]() -> hocket::task<> {
    auto body = [&](hocket::scope& all) -> hocket::task<> {
      hocket::spawn(all, std::ref(waits));
      co_await waits();
    };
    co_await hocket::in_scope(body);
  };
  Where where;
  spawn_daemon(where.target(), ticks);
  where.run_until(begun);
  where.end();
  CHECK(cancelled == 2);
  CHECK(where.live() == 0);
}

TEST_CASE_TEMPLATE("a daemon that a daemon spawns as it ends begins cancelled", Where, HOCKET_DAEMON_TARGETS) {
  hocket::event never;
  std::atomic<bool> begun{false}, began_second{false};
  Where where;
  auto second = daemon_body(never, began_second, [] {});
  auto first = daemon_body(never, begun, [&] { spawn_daemon(where.target(), second); });
  spawn_daemon(where.target(), first);
  where.run_until(begun);
  where.end();
  // A runtime that is shut down refuses it.
  CHECK(began_second == !std::is_same_v<Where, runtime_with_daemons>);
  CHECK(where.live() == 0);
}

TEST_CASE_TEMPLATE("a target that is used again has uncancelled daemons again", Where, HOCKET_DAEMON_TARGETS) {
  if constexpr (Where::is_reusable) {
    Where where;
    for (int round = 0; round < 3; ++round) {
      hocket::event never;
      std::atomic<bool> begun{false}, other_ended{false}, ended{false};
      auto ticks = daemon_body(never, begun, [&] { ended = other_ended.load(); });
      auto works = [&]() -> hocket::task<> {
        for (int i = 0; i < 10; ++i) co_await hocket::yield();
        other_ended = true;
      };
      spawn_daemon(where.target(), ticks);
      spawn_other(where.target(), works);
      where.end();
      CHECK(ended);
    }
  }
}

TEST_CASE_TEMPLATE("a stop of all coroutines of a target stops its daemons", Where, HOCKET_DAEMON_TARGETS) {
  hocket::event never;
  std::atomic<bool> begun{false};
  auto insists = [&]() -> hocket::task<> {
    begun = true;
    auto body = [&]() -> hocket::task<> { [[maybe_unused]] auto set = co_await never.wait(); };
    co_await hocket::shielded(body());
  };
  auto where = std::make_unique<Where>();
  auto handle = spawn_daemon(where->target(), insists);
  where->run_until(begun);
  if constexpr (std::is_same_v<Where, scope_on_loop> || std::is_same_v<Where, scope_on_runtime>) {
    where->target().kill();
    where->end();
  }
  where.reset();
  CHECK(handle.done());
}

}  // namespace hocket_test
