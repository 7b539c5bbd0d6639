// The budget (core/wait/seam/operation.hpp) where code runs on a fiber and cannot wait, or must not.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include <atomic>
#include <doctest/doctest.h>

using namespace hocket;

namespace {

constexpr int more_than_budget = 1000;

void await_again_and_again(event& is_set, int& times) {
  for (int i = 0; i < more_than_budget; ++i) {
    await(or_throw(is_set.wait()));
    ++times;
  }
}

}  // namespace

TEST_CASE("what is possible is possible on a raw coroutine, which could not wait") {
  event is_set(true);
  int times = 0;
  loop lp;
  spawn(lp, [&] {
    coroutine<void()> raw([&](auto&) { await_again_and_again(is_set, times); });
    raw.resume();
  });
  lp.run();
  CHECK(times == more_than_budget);
}

TEST_CASE("what is possible is possible for destructors that a kill runs, which must not wait") {
  event is_set(true), never;
  int times = 0;
  loop lp;
  auto waits = spawn(lp, [&] {
    struct at_the_end {
      event& what;
      int& count;
      ~at_the_end() {
        for (int i = 0; i < more_than_budget; ++i) {
          auto seen = await(what.wait());
          CHECK(seen.has_value());
        }
        await_again_and_again(what, count);
      }
    } last{is_set, times};
    static_cast<void>(await(never.wait()));
  });
  while (lp.step()) {
  }
  waits.kill();
  lp.run();
  CHECK(times == more_than_budget);
}

TEST_CASE("a fiber that never has to wait does not hold its worker, and can be killed") {
  event is_set(true);
  std::atomic<bool> unwound{false};
  hocket::runtime rt({.workers = 1});
  auto endless = [&] {
    struct at_the_end {
      std::atomic<bool>& what;
      ~at_the_end() { what = true; }
    } last{unwound};
    for (long i = 0; i < 200'000'000; ++i) static_cast<void>(await(is_set.wait()));
  };
  auto victim = spawn(rt, endless);
  for (int i = 0; i < 100; ++i) CHECK(sync_wait(spawn(rt, [i] { return i; })) == i);
  CHECK_FALSE(unwound);
  victim.kill();
  auto ended = sync_wait(victim.join());
  REQUIRE_FALSE(ended.has_value());
  CHECK(ended.error() == std::errc::operation_canceled);
  CHECK(unwound);
}
