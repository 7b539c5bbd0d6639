// A guard belongs to the coroutine that locked.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/shared_mutex.hpp>

#include "support/death.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

// One coroutine takes something, and another one ends that.
template <class Thing, class Take, class End>
void take_and_end(Take take, End end) {
  Thing of;
  loop lp;
  event over;
  decltype(sync_wait(take(of))) in_hand{failure(std::errc::operation_canceled)};
  auto taker = spawn(lp, {.name = "taker"}, [&]() -> task<> {
    in_hand = co_await take(of);
    [[maybe_unused]] auto set = co_await over.wait();
  });
  auto other = spawn(lp, {.name = "other"}, [&]() -> task<> {
    end(*in_hand);
    over.set();
    co_return;
  });
  lp.run();
}

constexpr auto lock = [](auto& of) { return of.lock(); };
constexpr auto enter = [](auto& of) { return of.enter(); };
constexpr auto drop = [](auto& held) { std::remove_reference_t<decltype(held)> ends(std::move(held)); };
constexpr auto unlock = [](auto& held) { held.unlock(); };

}  // namespace

TEST_CASE("who unlocks what another coroutine has locked is fatal" * doctest::skip(!detail::debug_checks)) {
  const std::string message = "a coroutine unlocked a mutex that another one has locked [coroutine other]";
  expect_fatal([] { take_and_end<mutex>(lock, unlock); }, message);
  expect_fatal([] { take_and_end<mutex>(lock, drop); }, message);
  expect_fatal([] { take_and_end<unsync::mutex>(lock, unlock); }, message);
  expect_fatal([] { take_and_end<mutex>(lock, unlock); }, "a semaphore of one may be released by anyone");
  expect_fatal([] { take_and_end<shared_mutex>(lock, unlock); },
               "a coroutine unlocked a shared mutex that another one has locked for writing [coroutine other]");
}

TEST_CASE("who ends the turn of another coroutine is fatal" * doctest::skip(!detail::debug_checks)) {
  const std::string message = "a coroutine ended a turn of a once that another one has [coroutine other]";
  expect_fatal([] { take_and_end<once>(enter, [](once::turn& held) { held.done(); }); }, message);
  expect_fatal([] { take_and_end<once>(enter, drop); }, message);
}

TEST_CASE("who reads is not known: a reader's guard may be handed on") {
  take_and_end<shared_mutex>([](shared_mutex& of) { return of.lock_shared(); }, unlock);
}

TEST_CASE("a guard may end outside of coroutines, or have begun there") {
  loop lp;
  mutex m;
  mutex::guard in_hand = m.try_lock();
  auto ends = spawn(lp, [&]() -> task<> {
    in_hand.unlock();
    in_hand = m.try_lock();
    co_return;
  });
  lp.run();
  in_hand.unlock();
  CHECK(static_cast<bool>(m.try_lock()));
}

TEST_CASE("a task that is awaited may lock for its caller, and a child of a when_all may unlock") {
  loop lp;
  mutex m;
  auto locked = [&]() -> task<mutex::guard> {
    auto held = co_await m.lock();
    co_return std::move(*held);
  };
  auto caller = spawn(lp, [&]() -> task<> {
    {
      auto held = co_await locked();
    }
    auto again = co_await locked();
    auto ends = [&]() -> task<> {
      again.unlock();
      co_return;
    };
    auto idle = [&]() -> task<> { co_return; };
    co_await when_all(ends(), idle());
  });
  lp.run();
  CHECK(static_cast<bool>(m.try_lock()));
}

// The object of a coroutine lives as long as its handle, what it was called with does not.
TEST_CASE("a guard that a coroutine keeps ends with it, however that comes, and whoever joins it") {
  mutex in_frame, in_call;
  event never;
  loop lp;
  struct keeper {
    mutex &in_frame, &in_call;
    event& never;
    mutex::guard kept;
    task<> operator()(bool wait) {
      auto held = co_await in_frame.lock();
      kept = in_call.try_lock();
      if (wait) [[maybe_unused]]
        auto set = co_await never.wait();
    }
  };
  for (const bool killed : {false, true}) {
    CAPTURE(killed);
    auto keeps = spawn(lp, keeper{in_frame, in_call, never, {}}, killed);
    auto joins = spawn(lp, [&]() -> task<> {
      if (killed) keeps.kill();
      [[maybe_unused]] auto joined = co_await keeps.join();
      CHECK(static_cast<bool>(in_frame.try_lock()));
      CHECK(static_cast<bool>(in_call.try_lock()));
      keeps = {};
    });
    lp.run();
    CHECK(joins.done());
  }
}

// The waker holds a worker, so the task has locked on another worker, and is woken on the worker of the waker.
TEST_CASE("a task keeps its guards when it goes on on another worker") {
  mutex m;
  std::atomic<int> moved{0};
  hocket::runtime rt({.workers = 2});
  while (moved == 0) {  // unless it is stolen back
    event bell;
    std::atomic<bool> runs{false}, locked{false};
    auto wakes = spawn(rt, [&]() -> task<> {
      runs = true;
      while (!locked) std::this_thread::yield();
      bell.set();
      co_return;
    });
    while (!runs) std::this_thread::yield();
    auto holds = spawn(rt, [&]() -> task<> {
      auto held = co_await m.lock();
      const auto before = std::this_thread::get_id();
      locked = true;
      [[maybe_unused]] auto set = co_await bell.wait();
      moved += std::this_thread::get_id() != before ? 1 : 0;
    });
    sync_wait(std::move(wakes));
    sync_wait(std::move(holds));
  }
  CHECK(static_cast<bool>(m.try_lock()));
}
