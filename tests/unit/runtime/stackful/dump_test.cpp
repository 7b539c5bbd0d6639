#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "unit/runtime/dump_table.hpp"
#include "unit/runtime/gate.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

unsigned line_of_pass;

void pass(gate& at) {
  line_of_pass = __LINE__ + 1;
  [[maybe_unused]] auto passed = await(at.pass());
}

task<void> pass_as_task(gate& at) {
  line_of_pass = __LINE__ + 1;
  [[maybe_unused]] auto passed = co_await at.pass();
}

struct still_loop {
  manual_clock time;
  loop lp{{.name = "still", .clock = &time}};
};

// An awaitable that knows nothing of hocket.
struct foreign {
  std::coroutine_handle<>& waiting;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiting = handle; }
  void await_resume() const noexcept {}
};

}  // namespace

TEST_CASE("a fiber that waits is shown as one, with its place") {
  gate at;
  still_loop on;
  spawn(on.lp, {.name = "guest"}, pass, std::ref(at));
  on.lp.run();
  dump_table seen(on.lp);
  CHECK(seen["guest"].kind == "fiber");
  CHECK(seen["guest"].state == "waiting");
  CHECK(seen["guest"].awaited == "gate " + address_of(static_cast<primitive::wait_source*>(&at)));
  CHECK(ends_with(seen["guest"].suspended, place(__FILE__, line_of_pass)));
}

TEST_CASE("a fiber that awaits a task is shown where the task waits") {
  gate at;
  still_loop on;
  spawn(on.lp, {.name = "mixed"}, [&] { await(pass_as_task(at)); });
  on.lp.run();
  dump_table seen(on.lp);
  CHECK(seen["mixed"].kind == "fiber");
  CHECK(ends_with(seen["mixed"].suspended, place(__FILE__, line_of_pass)));
}

TEST_CASE("a fiber that waits for a foreign awaitable is shown so") {
  still_loop on;
  std::coroutine_handle<> waiting;
  spawn(on.lp, {.name = "abroad"}, [&] { await(foreign{waiting}); });
  on.lp.run();
  dump_table seen(on.lp);
  CHECK(seen["abroad"].state == "waiting");
  CHECK(seen["abroad"].awaited == "a foreign awaitable");
  waiting.resume();
  on.lp.run();
  CHECK(on.lp.live() == 0);
}

TEST_CASE("joins across both kinds tell the chain") {
  gate at;
  still_loop on;
  auto innermost = spawn(on.lp, {.name = "innermost"}, pass, std::ref(at));
  auto middle = spawn(on.lp, {.name = "middle"}, [&]() -> task<void> { co_await innermost; });
  spawn(on.lp, {.name = "outermost"}, [&] { await(middle); });
  on.lp.run();
  dump_table seen(on.lp);
  CHECK(seen["outermost"].awaited == "the end of a coroutine \"middle\"");
  CHECK(seen["middle"].awaited == "the end of a coroutine \"innermost\"");
  CHECK(seen["innermost"].awaited.starts_with("gate"));
  at.open();
  on.lp.run();
}

TEST_CASE("a fiber can dump its own loop") {
  still_loop on;
  std::string text;
  spawn(on.lp, {.name = "yielder"}, [] { await(yield()); });
  spawn(on.lp, {.name = "reporter"}, [&] { text = dump_text(on.lp); });
  on.lp.run();
  dump_table seen(text);
  CHECK(seen["reporter"].state == "running");
  CHECK(seen["reporter"].kind == "fiber");
  CHECK(seen["yielder"].state == "ready");
}
