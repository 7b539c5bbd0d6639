// A wait that reports a kill: for tasks; stackful/reported_kill_test.cpp is for fibers.
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <doctest/doctest.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Kills a coroutine that waits, and tells what its wait gave.
template <class Wait>
std::error_code killed_in(Wait wait) {
  loop lp;
  std::error_code got;
  bool unwound = true, reported = false;
  event never;
  auto h = spawn(lp, [&]() -> task<> {
    auto ended = co_await wait();
    got = ended.error();
    reported = true;
    (void)co_await never.wait();  // a wait that does not report
    unwound = false;
  });
  while (lp.poll()) continue;
  CHECK_FALSE(reported);
  h.kill();
  lp.run();
  CHECK(reported);
  CHECK(unwound);
  CHECK(h.done());
  return got;
}

}  // namespace

TEST_CASE("a wait that reports a kill gives errc::killed, and the next wait unwinds") {
  event e;
  CHECK(killed_in([&] { return e.wait().reporting_kill(); }) == errc::killed);
  channel<int> c(1);
  CHECK(killed_in([&] { return c.receive().reporting_kill(); }) == errc::killed);
  CHECK(killed_in([&] { return within(1h, c.receive()).reporting_kill(); }) == errc::killed);
  CHECK(killed_in([&] { return within(1h, c.receive().reporting_kill()); }) == errc::killed);
  CHECK(killed_in([] { return sleep_for(1h).reporting_kill(); }) == errc::killed);
  CHECK(killed_in([&] { return select(c.receive(), e.wait()).reporting_kill(); }) == errc::killed);
  CHECK(killed_in([&] { return select(c.receive().reporting_kill(), e.wait()); }) == errc::killed);
}

TEST_CASE("errc::killed equals operation_canceled, and no other error") {
  const std::error_code killed = errc::killed;
  CHECK(killed == std::errc::operation_canceled);
  CHECK(killed != std::errc::timed_out);
  CHECK(killed != std::error_code(errc::closed));
  CHECK(killed.message() == "the coroutine was killed");
}

TEST_CASE("a wait that reports a kill gives what others give, if there is no kill") {
  loop lp;
  mutex m;
  channel<int> c(1);
  event waits;
  auto h = spawn(lp, [&]() -> task<> {
    auto held = co_await m.lock().reporting_kill();
    CHECK(held.has_value());
    (void)c.try_send(5);
    CHECK(*co_await c.receive().reporting_kill() == 5);
    auto late = co_await within(1ms, c.receive().reporting_kill());
    CHECK(late.error() == std::errc::timed_out);
    waits.set();
    auto cancelled = co_await c.receive().reporting_kill();
    CHECK(cancelled.error() == std::errc::operation_canceled);
    CHECK(cancelled.error() != errc::killed);
  });
  auto other = spawn(lp, [&]() -> task<> {
    (void)co_await waits.wait();
    h.cancel();
  });
  lp.run();
  CHECK(h.done());
}

TEST_CASE("a coroutine that returns after a reported kill has ended with its value") {
  loop lp;
  event never;
  auto h = spawn(lp, [&]() -> task<int> { co_return (co_await never.wait().reporting_kill()).has_value() ? 1 : 2; });
  while (lp.poll()) continue;
  h.kill();
  lp.run();
  CHECK(*sync_wait(h.join()) == 2);
}

TEST_CASE("an item that is sent beside a kill is with the receiver that reports the kill, or in the channel") {
  for (bool kill_first : {false, true}) {
    loop lp;
    channel<int> c(1);
    int got = 0;
    auto first = spawn(lp, [&]() -> task<> {
      if (auto item = co_await c.receive().reporting_kill()) got = *item;
    });
    while (lp.poll()) continue;
    if (kill_first) first.kill();
    (void)c.try_send(1);
    if (!kill_first) first.kill();
    lp.run();
    CHECK(got == (kill_first ? 0 : 1));
    CHECK(c.try_receive().has_value() == kill_first);
  }
}
