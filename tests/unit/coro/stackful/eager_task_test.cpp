// Eager tasks whose callers are fibers and tasks of a loop.
#include <hocket/coro/eager_task.hpp>

#include <hocket/base/error.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

eager_task<int> eager_plus(event& until, int n) {
  auto waited = co_await until.wait();
  if (!waited) detail::throw_error(waited.error());
  co_return n + 1;
}

task<int> awaits_in_a_task(event& e) {
  (void)await(e.wait());
  co_return 1;
}

}  // namespace

TEST_CASE("a fiber calls eager tasks, which wait side by side, and awaits them") {
  loop lp;
  event go;
  int got = 0;
  auto h = spawn(lp, [&] {
    auto one = eager_plus(go, 1);
    auto two = eager_plus(go, 10);
    CHECK_FALSE(one.is_ready());
    go.set();
    got = await(std::move(one)) + await(std::move(two));
  });
  lp.run();
  CHECK(h.done());
  CHECK(got == 13);
}

TEST_CASE("a fiber that drops an eager task, also because of an exception, waits for its end") {
  loop lp;
  event go;
  std::string order;
  auto note = [&]() -> eager_task<> {
    (void)co_await go.wait();
    order += 'e';
  };
  auto leaves = [&](bool throws) {
    try {
      auto t = note();
      if (throws) throw 1;
    } catch (int) {
    }
    order += 'f';
  };
  for (bool throws : {false, true}) {
    go.reset();
    spawn(lp, leaves, throws);
    lp.run_for(std::chrono::nanoseconds(1));
    CHECK(order.empty());
    go.set();
    lp.run();
    CHECK(order == "ef");
    order.clear();
  }
}

TEST_CASE("a kill unwinds the body and its caller, whichever runs first; the caller may be about to wait") {
  for (bool fiber : {false, true}) {
    event never, go;
    std::string order;
    struct mark {
      std::string& out;
      char name;
      mark(std::string& o, char n) : out(o), name(n) {}
      ~mark() { out += name; }
    };
    auto body = [&]() -> eager_task<> {
      mark here(order, 'e');
      (void)co_await never.wait();
    };
    {
      loop lp;
      auto by_fiber = [&] {
        mark here(order, 'o');
        auto t = body();
        (void)await(go.wait());
        await(std::move(t));
      };
      auto by_task = [&]() -> task<> {
        mark here(order, 'o');
        auto t = body();
        co_await std::move(t);
      };
      if (fiber) spawn(lp, by_fiber);
      else spawn(lp, by_task);
      lp.run_for(std::chrono::nanoseconds(1));
      CHECK(order.empty());
    }
    CHECK(order == "eo");
  }
}

TEST_CASE("a caller whose body was killed first may still reach its own wait, and unwinds there") {
  event never, go;
  loop lp;
  bool unwound = false;
  auto h = spawn(lp, [&] {
    auto t = eager_plus(never, 1);
    (void)await(go.wait().ignoring(stop_level::kill));
    CHECK(t.is_ready());
    try {
      (void)await(never.wait());
    } catch (const detail::forced_unwind&) {
      unwound = true;
      throw;
    }
  });
  lp.run_for(std::chrono::nanoseconds(1));
  h.kill();
  lp.run_for(std::chrono::nanoseconds(1));
  CHECK_FALSE(h.done());
  go.set();
  lp.run();
  CHECK(unwound);
}

TEST_CASE("an eager body spawns where its caller was spawned, and has a scope of its own") {
  int sum = 0;
  auto body = [&]() -> eager_task<> {
    auto add = [&](int n) -> task<> {
      sum += n;
      co_return;
    };
    auto several = [&](scope& all) -> task<> {
      for (int n : {1, 2, 3}) spawn(all, add, n);
      co_return;
    };
    co_await in_scope(several);
    auto h = spawn(add, 4);
    co_await h;
  };
  run([&] { await(body()); });
  CHECK(sum == 10);
}

TEST_CASE("await in an eager body, and in what runs on its caller's stack, aborts with the remedy") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        event never;
        auto body = [&]() -> eager_task<> {
          (void)await(never.wait());
          co_return;
        };
        run([&] { await(body()); });
      },
      "a task has no stack of its own to wait on");
  expect_fatal(
      [] {
        event never;
        auto body = [&]() -> eager_task<> { co_await awaits_in_a_task(never); };
        run([&] { await(body()); });
      },
      "await was called in a task");
  expect_fatal(
      [] {
        auto body = []() -> eager_task<> {
          await(yield());
          co_return;
        };
        run([&] { await(body()); });
      },
      "await was called in a task");
  expect_fatal(
      [] {
        event go;
        auto body = [&]() -> eager_task<> {
          (void)co_await go.wait();
          await(yield());
        };
        run([&] {
          auto t = body();
          go.set();
          await(std::move(t));
        });
      },
      "await was called in a task");
}

TEST_CASE("the caller of an eager body awaits as before when the body is suspended") {
  run([&] {
    event go;
    auto t = eager_plus(go, 1);
    await(yield());
    go.set();
    (void)await(go.wait());
    CHECK(await(std::move(t)) == 2);
  });
}

TEST_CASE("a fiber's stack stays in place while an eager body may refer to it") {
  loop lp;
  event go;
  auto work = [&] {
    event local;
    auto t = eager_plus(local, 1);
    CHECK_FALSE(t.is_ready());
    (void)await(go.wait());
    local.set();
    CHECK(await(std::move(t)) == 2);
  };
  auto h = spawn(lp, {.hibernate_after = std::chrono::hours(1000)}, work);
  lp.run_for(std::chrono::nanoseconds(1));
  hibernate_parked();
  go.set();
  lp.run();
  CHECK(h.done());
}

TEST_CASE("the exception of a dropped eager task goes to the loop's handler") {
  static int told = 0;
  loop lp({.on_unhandled = [](std::exception_ptr, const context&) noexcept { ++told; }});
  auto fails = []() -> eager_task<> {
    throw std::runtime_error("nobody asks");
    co_return;
  };
  spawn(lp, [&] { auto t = fails(); });
  lp.run();
  CHECK(told == 1);
}
