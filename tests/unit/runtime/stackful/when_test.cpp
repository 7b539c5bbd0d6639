// Groups on a loop: join_handles among them, and what their children spawn.
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
