// What a worker looks at though some coroutine of it is always ready: counted in yields of that coroutine.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>

#include "runtime/turn.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t few_turns = 4 * detail::turn_size;  // in yields of a coroutine that is ready alone

// Is ready until something is about to happen, and then as long as it may take. Gives whether it has.
task<bool> yields(std::atomic<bool>& runs, const std::atomic<bool>& about_to, const std::atomic<bool>& has_happened) {
  runs = true;
  while (!about_to.load()) co_await yield();
  for (std::size_t i = 0; i < few_turns && !has_happened.load(); ++i) co_await yield();
  co_return has_happened.load();
}

task<> notes(std::atomic<bool>& what) {
  what = true;
  co_return;
}

task<> sleeps(std::atomic<bool>& begun, std::atomic<bool>& what) {
  begun = true;
  static_cast<void>(co_await sleep_until(time_point{} + 1h));
  what = true;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/busy worker");

TEST_CASE("a worker that is always busy takes what is posted from outside within a few turns") {
  runtime rt({.workers = 1});
  std::atomic<bool> busy_runs{false}, posted{false}, ran{false};
  auto busy = spawn(rt, yields, std::ref(busy_runs), std::cref(posted), std::cref(ran));
  while (!busy_runs.load()) std::this_thread::yield();
  auto other = spawn(rt, notes, std::ref(ran));
  posted = true;
  CHECK(sync_wait(std::move(busy)));
  sync_wait(std::move(other));
}

TEST_CASE("a worker that is always busy looks at its timers within a few turns") {
  manual_clock time;
  runtime rt({.workers = 1, .clock = &time});
  std::atomic<bool> begun{false}, busy_runs{false}, due{false}, woken{false};
  auto sleeper = spawn(rt, sleeps, std::ref(begun), std::ref(woken));
  auto busy = spawn(rt, yields, std::ref(busy_runs), std::cref(due), std::cref(woken));
  while (!begun.load() || !busy_runs.load()) std::this_thread::yield();
  time.advance(2h);
  due = true;
  CHECK(sync_wait(std::move(busy)));
  rt.clock_moved();
  sync_wait(std::move(sleeper));
}

TEST_SUITE_END();
