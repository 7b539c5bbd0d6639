// Foreign awaitables, in tasks and fibers (the suite), and where only a fiber or a thread can await one.
#include <hocket/runtime/run.hpp>

#define HOCKET_SUITE_KINDS hocket_test::loop_tasks, hocket_test::loop_fibers
#include "suites/foreign.hpp"

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a plain thread awaits a foreign awaitable") {
  std::thread other;
  int got = await(on_another_thread(other, false));
  other.join();
  CHECK(got == 7);
}

TEST_CASE("a task under sync_wait comes home from a foreign awaitable") {
  const auto here = std::this_thread::get_id();
  std::thread other;
  auto body = [&]() -> task<std::thread::id> {
    foreign elsewhere = on_another_thread(other, false);
    (void)co_await elsewhere;
    co_return std::this_thread::get_id();
  };
  CHECK(sync_wait(body()) == here);
  other.join();
}

TEST_CASE("a foreign await in a destructor that unwinding runs is fatal") {
  auto wait_while_unwound = [] {
    loop lp;
    auto body = [] {
      struct waits {
        ~waits() {
          await(foreign([](std::coroutine_handle<> handle) { handle.resume(); }));
        }
      } local;
      for (;;) await(yield());
    };
    auto handle = spawn(lp, {.name = "unwound"}, body);
    lp.step();
    handle.kill();
    lp.run();
  };
  expect_fatal(wait_while_unwound, "unwound");
}
