// What an observer is told of coroutines that are spawned, of both kinds.
#include <hocket/core/spawn_batch.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "suites/loop_kinds.hpp"
#include "unit/core/recorder.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

TEST_CASE_TEMPLATE("a spawned coroutine is created once and destroyed once, as one and the same", Kind, loop_tasks,
                   loop_fibers) {
  recorder watching;
  Kind world;
  event bell;
  const context* own = nullptr;
  auto body = [&]() -> typename Kind::body {
    own = current_context().coroutine();
    (void)co_await bell.wait();
  };
  world.start(body);
  REQUIRE(watching.told() == list_of{"created"});
  const recorder::event made = watching.events().front();
  world.settle();
  CHECK(own != nullptr);
  CHECK(made.detail == own);
  bell.set();
  CHECK(watching.told(made.frame) == list_of{"created", "suspended", "woken"});
  world.settle();
  CHECK(watching.told(made.frame) == list_of{"created", "suspended", "woken", "destroyed"});
  CHECK(watching.told() == watching.told(made.frame));
}

TEST_CASE_TEMPLATE("so is one that is killed, before it begins or while it waits", Kind, loop_tasks, loop_fibers) {
  recorder watching;
  Kind world;
  event bell;
  auto body = [&]() -> typename Kind::body { (void)co_await bell.wait(); };
  for (bool begun : {false, true}) {
    const std::size_t before = watching.events().size();
    const int id = world.start(body);
    REQUIRE(watching.events().size() == before + 1);
    const void* frame = watching.events().back().frame;
    if (begun) world.settle();
    world.kill(id);
    world.settle();
    CHECK(world.ended(id) == fate::killed);
    const std::vector<std::string> told = watching.told();
    CHECK(told[before] == "created");
    CHECK(told.back() == "destroyed");
    CHECK(watching.events().back().frame == frame);
    CHECK(told.size() - before == (begun ? 4 : 2));
  }
}

TEST_CASE("one that is refused with its batch is destroyed; one that is refused at once was never created") {
  auto nothing = []() -> task<> { co_return; };
  hocket::runtime rt({.workers = 1});
  static_cast<void>(rt.shutdown());
  recorder watching;
  spawn_batch batch(rt);
  auto refused = spawn(batch, nothing);
  REQUIRE(watching.told() == list_of{"created"});
  batch.flush();
  CHECK(refused.done());
  CHECK(watching.told(watching.events().front().frame) == list_of{"created", "destroyed"});
  auto never = spawn(rt, nothing);
  CHECK(never.done());
  CHECK(watching.told().size() == 2);
}
