// What holds on a runtime while one of its workers is stuck, and what may not leave its worker.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

void spin_until(const std::atomic<bool>& what) {
  while (!what.load()) std::this_thread::yield();
}

// Sleeps with a timer, so that its worker wakes by itself; then spawns one child and does not let go before that ran.
task<> spawns_and_holds(std::atomic<bool>& ran) {
  event never;
  auto slept = co_await within(2ms, never.wait());
  static_cast<void>(slept);
  auto child = [&ran]() -> task<> {
    ran = true;
    co_return;
  };
  auto handle = spawn(child);
  spin_until(ran);
  co_await std::move(handle);
}

task<int> fails_at_once() {
  throw std::runtime_error("at once");
  co_return 0;
}
task<int> gives(int n) {
  co_await yield();
  co_return n;
}

// A nested group, of which one child may fail while the rest is elsewhere; then its parent asks for its context.
task<int> nested(std::atomic<int>& strangers, const context* outer) {
  int sum = 0;
  try {
    auto bad = fails_at_once();
    auto good = gives(1);
    auto [a, b] = co_await fork_join(std::move(bad), std::move(good));
    sum += a + b;
  } catch (const std::runtime_error&) {
    ++sum;
  }
  if (&current_context() != outer && current_context().parent() != outer) ++strangers;
  co_return sum;
}

}  // namespace

TEST_CASE("a child that is alone in its queue is taken from a worker that a timer woke and that is held") {
  for (int i = 0; i < 3; ++i) {
    hocket::runtime rt({.workers = 2});
    std::atomic<bool> ran{false};
    sync_wait(spawn(rt, spawns_and_holds, std::ref(ran)));
    CHECK(ran);
  }
}

TEST_CASE("a task that has moved ends where it is, whatever its first worker does") {
  hocket::runtime rt({.workers = 2});
  std::atomic<bool> ended{false};
  event go;
  std::atomic<bool> waiting{false};
  auto moves = [&]() -> task<> {
    waiting = true;
    auto got = co_await go.wait();
    static_cast<void>(got);
  };
  auto handle = spawn(rt, moves);
  spin_until(waiting);
  // One of the workers, perhaps its first, is held until the task has ended.
  std::atomic<bool> holding{false};
  auto holds = [&]() -> task<> {
    holding = true;
    spin_until(ended);
    co_return;
  };
  auto first = spawn(rt, holds);
  spin_until(holding);
  go.set();
  sync_wait(std::move(handle));
  ended = true;
  sync_wait(std::move(first));
}

TEST_CASE("a grant from another thread is not a time-out, however the deadline is taken back") {
  const auto granted = [](auto& where, auto drive) {
    event bell;
    std::atomic<int> early{0};
    std::atomic<int> rounds{0};
    auto body = [&]() -> task<> {
      for (int i = 0; i < 2000; ++i) {
        auto got = co_await within(1h, bell.wait());
        if (!got) ++early;
        bell.reset();
        ++rounds;
      }
    };
    auto handle = spawn(where, body);
    std::thread ringer([&] {
      while (rounds.load() < 2000) {
        bell.set();
        std::this_thread::yield();
      }
    });
    drive(handle);
    ringer.join();
    sync_wait(std::move(handle));
    CHECK(early == 0);
  };
  SUBCASE("on a loop") {
    loop lp;
    granted(lp, [&](auto& handle) { lp.run_until(handle); });
  }
  SUBCASE("on a runtime") {
    hocket::runtime rt({.workers = 2});
    granted(rt, [](auto&) {});
  }
}

TEST_CASE("the children of a scope run beside each other") {
  hocket::runtime rt({.workers = 2});
  std::atomic<int> here{0};
  auto meet = [&here]() -> task<> {
    ++here;
    while (here.load() < 2) std::this_thread::yield();
    co_return;
  };
  auto body = [&]() -> task<> {
    auto both = [&](scope& all) -> task<> {
      static_cast<void>(spawn(all, meet));
      static_cast<void>(spawn(all, meet));
      co_return;
    };
    co_await in_scope(both);
  };
  sync_wait(spawn(rt, body));
  CHECK(here == 2);
}

TEST_CASE("an eager body does not run while the code that began it does") {
  hocket::runtime rt({.workers = 4});
  std::atomic<int> together{0};
  auto owner = [&]() -> task<> {
    for (int i = 0; i < 50; ++i) {
      event bell;
      std::atomic<bool> running{true};
      auto body = [&]() -> eager_task<> {
        auto got = co_await bell.wait();
        static_cast<void>(got);
        if (running.load()) ++together;
      };
      auto eager = body();
      std::thread ringer([&] { bell.set(); });
      ringer.join();
      for (int k = 0; k < 1000; ++k) static_cast<void>(running.load());
      running = false;
      co_await std::move(eager);
    }
  };
  std::vector<join_handle<>> all;
  for (int i = 0; i < 8; ++i) all.push_back(spawn(rt, owner));
  for (auto& one : all) sync_wait(std::move(one));
  CHECK(together == 0);
}

TEST_CASE("a parent has its own context when a child has failed elsewhere") {
  for (const std::size_t workers : {std::size_t{2}, std::size_t{4}}) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    std::atomic<int> strangers{0};
    auto outer = [&]() -> task<> {
      const context* own = &current_context();
      for (int i = 0; i < 300; ++i) {
        auto one = nested(strangers, own), other = nested(strangers, own);
        auto [a, b] = co_await fork_join(std::move(one), std::move(other));
        if (a != 1 || b != 1) ++strangers;
        if (&current_context() != own) ++strangers;
      }
    };
    std::vector<join_handle<>> all;
    for (int i = 0; i < 8; ++i) all.push_back(spawn(rt, outer));
    for (auto& one : all) sync_wait(std::move(one));
    CHECK(strangers == 0);
  }
}

TEST_CASE("a fork_join with a name may fail and be dropped") {
  auto body = []() -> task<bool> {
    auto bad = fails_at_once();
    auto good = gives(1);
    auto both = fork_join(std::move(bad), std::move(good));
    bool caught = false;
    try {
      static_cast<void>(co_await both);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    co_return caught;
  };
  CHECK(sync_wait(body()));
}
