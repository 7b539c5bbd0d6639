// What an observer is told of coroutines that are spawned, of both kinds.
#include <hocket/core/spawn_batch.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/primitive.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>

#include "suites/loop_kinds.hpp"
#include "unit/core/recorder.hpp"

#include <doctest/doctest.h>
#include <set>

using namespace hocket;
using namespace hocket_test;

namespace {

const list_of whole_life{"created", "resumed", "suspended", "woken", "resumed", "destroyed"};

task<> wait_below(event& bell, int depth) {
  if (depth > 0) co_await wait_below(bell, depth - 1);
  else (void)co_await bell.wait();
}

}  // namespace

TEST_CASE_TEMPLATE("a spawned coroutine is told of from its creation to its end, as one and the same", Kind, loop_tasks,
                   loop_fibers, packed_fibers, copied_fibers) {
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
  CHECK(watching.told() == list_of{"created", "resumed", "suspended"});
  bell.set();
  CHECK(watching.told() == list_of{"created", "resumed", "suspended", "woken"});
  world.settle();
  CHECK(watching.told() == whole_life);
  CHECK(watching.told(made.who) == whole_life);
}

TEST_CASE("an observer is told the name, the place and the kind of what is spawned, and what it waits for") {
  recorder watching;
  loop lp;
  event bell;
  const unsigned first_line = std::source_location::current().line() + 1;
  auto a = spawn(lp, {.name = "a task"}, [&]() -> task<> { (void)co_await bell.wait(); });
  CHECK(watching.kind == observed_kind::task);
  CHECK(watching.name == "a task");
  CHECK(watching.events().back().line == first_line);
  CHECK(watching.caller != nullptr);
  const unsigned second_line = std::source_location::current().line() + 1;
  auto b = spawn(lp, {.name = "a fiber"}, [&] { (void)await(bell.wait()); });
  CHECK(watching.kind == observed_kind::fiber);
  CHECK(watching.name == "a fiber");
  CHECK(watching.events().back().line == second_line);
  while (lp.step()) {
  }
  std::set<unsigned> lines;
  for (const auto& one : watching.events()) {
    if (one.what != "suspended") continue;
    const auto* source = static_cast<const primitive::wait_source*>(one.detail);
    CHECK(std::string(source->what()) == "an event");
    lines.insert(one.line);
  }
  CHECK(lines == std::set<unsigned>{first_line, second_line});
  bell.set();
  lp.run();
}

TEST_CASE_TEMPLATE("a wait in a task that is awaited by others is that of the coroutine", Kind, loop_tasks,
                   loop_fibers) {
  recorder watching;
  Kind world;
  event bell;
  auto body = [&]() -> typename Kind::body { co_await wait_below(bell, 3); };
  world.start(body);
  world.settle();
  bell.set();
  world.settle();
  CHECK(watching.told(watching.events().front().who) == whole_life);
  CHECK(watching.told() == whole_life);
}

TEST_CASE_TEMPLATE("a yield is no event", Kind, loop_tasks, loop_fibers) {
  recorder watching;
  Kind world;
  auto body = []() -> typename Kind::body {
    for (int i = 0; i < 10; ++i) co_await yield();
  };
  world.start(body);
  world.start(body);
  world.settle();
  CHECK(watching.told(watching.events().front().who) == list_of{"created", "resumed", "destroyed"});
}

TEST_CASE_TEMPLATE("the parts of a coroutine suspend and are resumed under its id", Kind, loop_tasks, loop_fibers) {
  recorder watching;
  Kind world;
  event bell;
  auto body = [&]() -> typename Kind::body { (void)co_await when_all(wait_below(bell, 0), wait_below(bell, 1)); };
  world.start(body);
  world.settle();
  bell.set();
  world.settle();
  const auto told = watching.told(watching.events().front().who);
  CHECK(told == watching.told());
  CHECK(std::count(told.begin(), told.end(), "woken") == std::count(told.begin(), told.end(), "suspended"));
  CHECK(std::count(told.begin(), told.end(), "resumed") == std::count(told.begin(), told.end(), "suspended") + 1);
  CHECK(std::count(told.begin(), told.end(), "suspended") >= 3);
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
    const coroutine_id who = watching.events().back().who;
    if (begun) world.settle();
    world.kill(id);
    world.settle();
    CHECK(world.ended(id) == fate::killed);
    const std::vector<std::string> told = watching.told();
    CHECK(told[before] == "created");
    CHECK(told.back() == "destroyed");
    CHECK(watching.events().back().who == who);
    CHECK(told.size() - before == (begun ? 6 : 2));
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
  CHECK(watching.told(watching.events().front().who) == list_of{"created", "destroyed"});
  auto never = spawn(rt, nothing);
  CHECK(never.done());
  CHECK(watching.told().size() == 2);
}
