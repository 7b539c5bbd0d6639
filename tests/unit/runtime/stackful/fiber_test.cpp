// Scheduled fibers: spawn, await, kill.
#include <hocket/core/yield.hpp>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/fiber_local.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/run.hpp>

#include "support/death.hpp"
#include "unit/runtime/gate.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

struct witness {
  bool* gone;
  explicit witness(bool& flag) noexcept : gone(&flag) {}
  witness(const witness&) = delete;
  ~witness() { *gone = true; }
};

// Yields `depth` calls below its caller.
int deep(int depth) {
  if (depth == 0) {
    await(yield());
    return 1;
  }
  return 1 + deep(depth - 1);
}

task<int> twice(int n) {
  co_await yield();
  co_return n * 2;
}

task<int> fails() {
  co_await yield();
  throw std::runtime_error("from a task");
}

int half(int n) {
  await(yield());
  return n / 2;
}

generator<int> halves() {
  co_yield half(2);
  co_yield half(4);
}

}  // namespace

TEST_CASE("any function suspends its fiber, at any depth") {
  std::vector<int> depths;
  loop lp;
  for (int depth : {0, 3, 10}) spawn(lp, [&, depth] { depths.push_back(deep(depth)); });
  lp.run();
  CHECK(depths == std::vector{1, 4, 11});
}

TEST_CASE("fibers and tasks await each other") {
  auto both = [] {
    int task_then = await(twice(4));  // a fiber awaits a task
    auto fiber = spawn(half, 10);
    auto other = spawn(twice, 3);
    return task_then + await(fiber) + await(other);  // 8 + 5 + 6
  };
  CHECK(run(both) == 19);
  auto task_first = []() -> task<int> {
    auto fiber = spawn(half, 10);
    co_return co_await fiber;
  };
  CHECK(run(task_first) == 5);
}

TEST_CASE("an exception crosses from the task to the fiber that awaits it, and to the one that joins that") {
  auto outer = [] {
    auto inner = spawn([] { return await(fails()); });
    CHECK_THROWS_WITH_AS(await(inner), "from a task", std::runtime_error);
    return 1;
  };
  CHECK(run(outer) == 1);
}

TEST_CASE("a fiber gives references, move-only values and nothing") {
  static int target = 3;
  auto all = [] {
    auto reference = spawn([]() -> int& { return target; });
    CHECK(&await(reference) == &target);
    auto owner = spawn([] { return std::make_unique<int>(5); });
    CHECK(*await(owner) == 5);
    auto nothing = spawn([] {});
    await(nothing);
  };
  run(all);
}

TEST_CASE("awaiting tasks that complete at once does not use up the worker's stack") {
  auto loop_of_awaits = [] {
    auto at_once = [](int n) -> task<int> { co_return n; };
    int sum = 0;
    for (int i = 0; i < 200'000; ++i) sum += await(at_once(1));
    return sum;
  };
  CHECK(run(loop_of_awaits) == 200'000);
}

TEST_CASE("a fiber keeps its exceptions over a yield in a catch block") {
  std::vector<std::string> seen;
  auto handler = [&](const char* what) {
    try {
      throw std::runtime_error(what);
    } catch (const std::exception&) {
      await(yield());
      try {
        throw;
      } catch (const std::exception& again) {
        seen.emplace_back(again.what());
      }
    }
  };
  loop lp;
  for (const char* what : {"one", "two"}) spawn(lp, handler, what);
  try {
    throw 1;
  } catch (int) {
    lp.run();  // in a handler of the thread's own
    CHECK(std::current_exception() != nullptr);
  }
  CHECK(seen == std::vector<std::string>{"one", "two"});
  CHECK(std::uncaught_exceptions() == 0);
}

TEST_CASE("killing a fiber unwinds every frame on its stack") {
  bool inner = false;
  bool outer = false;
  gate shut;
  loop lp;
  auto body = [&] {
    witness first(outer);
    auto deeper = [&] {
      witness second(inner);
      static_cast<void>(await(shut.pass()));
    };
    deeper();
  };
  auto handle = spawn(lp, body);
  lp.step();
  handle.kill();
  CHECK_FALSE(inner);
  lp.run();
  CHECK(inner);
  CHECK(outer);
  CHECK_THROWS_AS(sync_wait(handle), cancelled);
}

TEST_CASE("killing a fiber that awaits a task unwinds both") {
  bool in_task = false;
  bool in_fiber = false;
  gate shut;
  loop lp;
  auto child = [&]() -> task<> {
    witness local(in_task);
    static_cast<void>(co_await shut.pass());
  };
  auto handle = spawn(lp, [&] {
    witness local(in_fiber);
    await(child());
  });
  while (lp.step()) {
  }
  handle.kill();
  lp.run();
  CHECK(in_task);
  CHECK(in_fiber);
}

TEST_CASE("a fiber that was killed while it is ready unwinds at its yield") {
  bool gone = false;
  {
    loop lp;
    spawn(lp, [&] {
      witness local(gone);
      for (;;) await(yield());
    });
    for (int i = 0; i < 3; ++i) lp.step();
  }
  CHECK(gone);
}

TEST_CASE("an unstarted fiber that is killed needs no stack") {
  loop lp;
  bool ran = false;
  auto handle = spawn(lp, [&] { ran = true; });
  handle.kill();
  lp.run();
  CHECK_FALSE(ran);
  CHECK(handle.done());
}

TEST_CASE("fiber-local values are each fiber's own, and end with it") {
  static fiber_local<std::shared_ptr<int>> mine;
  auto token = std::make_shared<int>(1);
  loop lp;
  for (int i = 0; i < 3; ++i)
    spawn(lp, [&] {
      CHECK(*mine == nullptr);
      *mine = token;
      await(yield());
      CHECK(*mine == token);
    });
  lp.run();
  CHECK(token.use_count() == 1);
}

TEST_CASE("a fiber of a chosen stack size has room for it") {
  auto use = [] {
    volatile char room[200 * 1024];
    room[0] = 1;
    room[sizeof room - 1] = 2;
    await(yield());
    return room[0] + room[sizeof room - 1];
  };
  loop lp;
  auto handle = spawn(lp, {.stack_size = 256 * 1024}, use);
  lp.run();
  CHECK(sync_wait(handle) == 3);
}

TEST_CASE("a stack that cannot be had is an error of the handle") {
  loop lp;
  auto handle = spawn(lp, {.stack_size = std::size_t{1} << 40}, [] { return 1; });
  lp.run();
  CHECK_THROWS_AS(sync_wait(handle), std::system_error);
}

TEST_CASE("a plain thread awaits what a loop on another thread does") {
  loop lp;
  std::thread worker;
  auto handle = spawn(lp, half, 12);
  worker = std::thread([&] { lp.run(); });
  CHECK(await(handle) == 6);
  worker.join();
}

TEST_CASE("a yield on a plain thread returns") { await(yield()); }

TEST_CASE("a raw coroutine runs inside of a fiber, and yields to it") {
  auto body = [] {
    coroutine<int(int)> doubles{[](auto& self, int n) {
      for (;;) n = self.yield(n * 2);
      return 0;
    }};
    int sum = 0;
    for (int i = 1; i <= 3; ++i) {
      sum += doubles.resume(i);
      await(yield());
    }
    return sum;
  };
  CHECK(run(body) == 12);
}

TEST_CASE("a generator that a fiber reads may await: the fiber waits") {
  auto body = [] {
    auto other = spawn(half, 4);
    int sum = 0;
    for (int n : halves()) sum += n;
    return sum + await(other);
  };
  CHECK(run(body) == 1 + 2 + 2);
}

TEST_CASE("a loop that moves to another thread under a fiber that has begun is fatal") {
  auto move = [] {
    loop lp;
    auto spin = [] {
      for (;;) await(yield());
    };
    for (int i = 0; i < 3; ++i) spawn(lp, spin);
    lp.step();
    std::thread([&] {
      spawn(lp, spin);
      for (int i = 0; i < 8; ++i) lp.step();
    }).join();
  };
  expect_fatal(move, "by another thread than its own");
}

TEST_CASE("await is refused, with a remedy, where nothing can wait") {
  SUBCASE("in a task") {
    auto in_task = [] {
      run([]() -> task<> {
        await(yield());
        co_return;
      });
    };
    expect_fatal(in_task, "await was called in a task");
  }
  SUBCASE("in a generator that a task reads") {
    auto in_generator = [] {
      run([]() -> task<> {
        for (int n : halves()) static_cast<void>(n);
        co_return;
      });
    };
    expect_fatal(in_generator, "await was called in a task");
  }
  SUBCASE("in a raw coroutine") {
    auto in_raw = [] {
      coroutine<void()> raw{[](auto&) { await(yield()); }};
      raw.resume();
    };
    expect_fatal(in_raw, "await was called in a raw coroutine");
  }
  SUBCASE("in a destructor that unwinding runs") {
    auto in_destructor = [] {
      gate shut;
      struct waits {
        gate& at;
        ~waits() { static_cast<void>(await(at.pass())); }
      };
      loop lp;
      spawn(lp, {.name = "restless"}, [&] {
        waits local{shut};
        static_cast<void>(await(shut.pass()));
      });
      lp.step();
    };
    expect_fatal(in_destructor, "restless");
  }
}

TEST_CASE("an exception that meets noexcept while a fiber is killed is fatal by name") {
  auto meets = [] {
    gate shut;
    loop lp;
    spawn(lp, {.name = "walled"}, [&] {
      auto wall = [&]() noexcept { static_cast<void>(await(shut.pass())); };
      wall();
    });
    lp.step();
  };
  expect_fatal(meets, "walled");
}

TEST_CASE("a fiber that is spawned with a buffer has the words that were there then") {
  loop lp;
  char buffer[16] = "first";
  auto reads = [](const std::string& words) {
    await(yield());
    return words;
  };
  auto one = spawn(lp, reads, buffer);
  buffer[0] = 'F';
  lp.run();
  CHECK(sync_wait(one) == "first");
}
