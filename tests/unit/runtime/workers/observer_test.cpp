// What an observer is told of by the workers of a runtime.
#include <hocket/core/yield.hpp>
#include <hocket/sync/event.hpp>

#include "suites/runtime_kinds.hpp"
#include "unit/core/recorder.hpp"

#include <doctest/doctest.h>
#include <set>

using namespace hocket;
using namespace hocket_test;

TEST_CASE_TEMPLATE("what was woken is resumed under the same id, whichever worker does it", Kind, runtime_tasks,
                   runtime_fibers, runtime_migrants) {
  recorder watching;
  event bell;
  {
    Kind world;
    auto body = [&]() -> typename Kind::body { (void)co_await bell.wait(); };
    for (int i = 0; i < 20; ++i) world.start(body);
    world.settle();
    bell.set();
    world.settle();
  }
  std::set<coroutine_id> created;
  for (const auto& one : watching.events())
    if (one.what == "created") created.insert(one.who);
  CHECK(!created.empty());
  for (const coroutine_id who : created) {
    const auto told = watching.told(who);
    CHECK(told.back() == "destroyed");
    for (std::size_t i = 0; i < told.size(); ++i)
      if (told[i] == "woken") CHECK(told.at(i + 1) == "resumed");
  }
}

TEST_CASE_TEMPLATE("observers come and go while workers run", Kind, runtime_tasks, runtime_fibers) {
  Kind world;
  auto body = []() -> typename Kind::body {
    for (int i = 0; i < 50; ++i) {
      const recorder watching;
      event bell;
      bell.set();
      (void)co_await bell.wait();
      co_await yield();
    }
  };
  for (int i = 0; i < 8; ++i) world.start(body);
  world.settle();
  for (int i = 0; i < 8; ++i) CHECK(world.ended(i) == fate::ended);
}
