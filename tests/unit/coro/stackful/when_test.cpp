// Groups on a loop: join_handles among them, and what their children spawn.
#include <hocket/core/spawn/seam/registry.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>

#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using namespace hocket;

namespace {

int twice(int n) { return 2 * n; }
task<int> thrice(int n) { co_return 3 * n; }

}  // namespace

TEST_CASE("fibers and tasks are awaited together, by their handles and as tasks") {
  int sum = run([] {
    auto fiber = spawn(twice, 1);
    auto [two, three, six] = await(when_all(fiber, spawn(thrice, 1), thrice(2)));
    return two + three + six;
  });
  CHECK(sum == 11);
}

TEST_CASE("a range of handles is referred to") {
  run([] {
    std::vector<join_handle<int>> all;
    for (int i = 0; i < 5; ++i) all.push_back(spawn(twice, i));
    CHECK(await(when_all(all)) == std::vector<int>{0, 2, 4, 6, 8});
    CHECK(all[0].done());
  });
}

TEST_CASE("whose handle loses goes on; its handle is as it was") {
  run([] {
    event gate;
    auto slow = spawn([&]() -> int {
      CHECK(await(gate.wait()).has_value());
      return 1;
    });
    auto first = await(when_any(slow, thrice(3)));
    CHECK(first.index() == 1);
    CHECK_FALSE(slow.done());
    gate.set();
    CHECK(await(slow) == 1);
  });
}

TEST_CASE("what a child spawns has the target of its parent, and children may have scopes") {
  int sum = run([] {
    auto with_scope = [](int n) -> task<int> {
      auto body = [n](scope& all) -> task<int> {
        auto one = spawn(all, twice, n);
        auto two = spawn(thrice, n);
        int got = co_await one;
        co_return got + co_await two;
      };
      co_return co_await in_scope(body);
    };
    auto both = await(when_all(with_scope(1), with_scope(10)));
    return std::get<0>(both) + std::get<1>(both);
  });
  CHECK(sum == 55);
}

TEST_CASE("a child that only yields is ended by a kill of its parent") {
  loop lp;
  auto spin = []() -> task<> {
    for (;;) co_await yield();
  };
  auto parent = spawn(lp, [&]() -> task<> { static_cast<void>(co_await when_all(spin(), spin())); });
  for (int i = 0; i < 10; ++i) lp.step();
  parent.kill();
  lp.run();
  CHECK(parent.done());
}

TEST_CASE("what a child has made may outlive the group: its context goes with the last of it") {
  int sum = run([] {
    auto leaves = [](int n) -> task<join_handle<int>> {
      auto body = [n](scope& all) -> task<join_handle<int>> { co_return spawn(all, twice, n); };
      co_return co_await in_scope(body);
    };
    auto handles = [&]() -> task<std::vector<join_handle<int>>> {
      auto both = co_await when_all(leaves(1), leaves(2));
      std::vector<join_handle<int>> kept;
      kept.push_back(std::move(std::get<0>(both)));
      kept.push_back(std::move(std::get<1>(both)));
      co_return kept;
    };
    int total = 0;
    for (auto& one : await(handles())) total += await(one);
    return total;
  });
  CHECK(sum == 6);
}

TEST_CASE("two eager tasks in one group are unwound by a kill of the parent") {
  loop lp;
  event never;
  int unwound = 0;
  struct counts {
    int& count;
    ~counts() { ++count; }
  };
  auto slow = [&]() -> eager_task<int> {
    counts one{unwound};
    static_cast<void>(co_await never.wait());
    co_return 1;
  };
  auto parent = spawn(lp, [&]() -> task<> {
    auto a = slow(), b = slow();
    static_cast<void>(co_await when_all(std::move(a), std::move(b)));
  });
  for (int i = 0; i < 10; ++i) lp.step();
  CHECK(unwound == 0);
  parent.kill();
  lp.run();
  CHECK(parent.done());
  CHECK(unwound == 2);
}

TEST_CASE("a foreign awaitable that refuses to wait leaves no trace in the coroutine") {
  struct refuses {
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<>) { throw std::runtime_error("no"); }
    void await_resume() {}
  };
  loop lp;
  event gate;
  auto parent = spawn(lp, [&]() -> task<> {
    auto all = co_await when_all_settled(refuses{});
    CHECK(std::get<0>(all).kind() == outcome_kind::exception);
    static_cast<void>(co_await gate.wait());
  });
  for (int i = 0; i < 10; ++i) lp.step();
  for (const detail::scheduled& one : lp.coroutines()->members()) CHECK(one.state() == detail::activity::waiting);
  gate.set();
  lp.run();
  CHECK(parent.done());
}
