// FAULT 17: a coroutine waits while it holds a mutex of its thread, and the thread blocks on that mutex when the next
// coroutine there wants it (brpc#2692). With a checked lock the wait itself is fatal, and names both.
#include <hocket/core/checked_lock.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <mutex>
#include <thread>

using namespace hocket;
using hocket_test::end_of_child, hocket_test::expect_fatal;

namespace {

using lock_type = checked_lock<std::mutex>;

task<> waits_under(lock_type& lock, event& never) {
  std::lock_guard held(lock);
  auto set = co_await never.wait();
  static_cast<void>(set);
}

task<> yields_under(lock_type& lock) {
  std::lock_guard held(lock);
  co_await yield();
}

eager_task<> waits_eagerly(event& never) { [[maybe_unused]] auto set = co_await never.wait(); }
task<> waits_for_body_under(lock_type& lock, event& never) {
  auto body = waits_eagerly(never);
  std::lock_guard held(lock);
  co_await std::move(body);
}

struct never_comes {  // of another library
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};
task<> waits_for_others_under(lock_type& lock) {
  std::lock_guard held(lock);
  co_await never_comes{};
}

template <class... A>
void run_on_a_loop(A&&... what) {
  loop here;
  static_cast<void>(spawn(here, {.name = "careless"}, std::forward<A>(what)...));
  here.run();
}

}  // namespace

TEST_CASE("FAULT 17: waiting under a checked lock is fatal, and names the coroutine and the lock" *
          doctest::skip(!detail::debug_checks)) {
  const auto end = end_of_child([] {
    lock_type lock("sessions");
    event never;
    run_on_a_loop(waits_under, std::ref(lock), std::ref(never));
  });
  CHECK(end.aborted);
  CHECK_MESSAGE(end.errors.find("holds the lock \"sessions\"") != end.errors.npos, end.errors);
  CHECK_MESSAGE(end.errors.find("careless") != end.errors.npos, end.errors);
  CHECK_MESSAGE(end.errors.find("hocket::mutex") != end.errors.npos, end.errors);
}

TEST_CASE("FAULT 17: so are a yield, the wait for an eager body, and a foreign wait" *
          doctest::skip(!detail::debug_checks)) {
  expect_fatal(
      [] {
        lock_type lock;
        run_on_a_loop(yields_under, std::ref(lock));
      },
      "a coroutine waited while its thread holds the lock");
  expect_fatal(
      [] {
        lock_type lock;
        event never;
        run_on_a_loop(waits_for_body_under, std::ref(lock), std::ref(never));
      },
      "a coroutine waited while its thread holds the lock");
  expect_fatal(
      [] {
        lock_type lock;
        run_on_a_loop(waits_for_others_under, std::ref(lock));
      },
      "a coroutine waited while its thread holds the lock");
}

TEST_CASE("FAULT 17: it is fatal also if what is awaited is possible at once" * doctest::skip(!detail::debug_checks)) {
  const auto expect_fatal_under = [](auto awaited) {
    expect_fatal(
        [awaited] {
          lock_type lock;
          run_on_a_loop([&]() -> task<> {
            std::lock_guard held(lock);
            co_await awaited();
          });
        },
        "a coroutine waited while its thread holds the lock");
  };
  expect_fatal_under([]() -> task<> {
    event set(true);
    [[maybe_unused]] auto seen = co_await set.wait();
  });
  expect_fatal_under([]() -> task<> {
    hocket::mutex free;
    [[maybe_unused]] auto held = co_await free.lock();
  });
  expect_fatal_under([]() -> task<> {
    semaphore permits(1);
    event never;
    [[maybe_unused]] auto got = co_await select(never.wait(), permits.acquire());
  });
  expect_fatal_under([]() -> task<> {
    auto ended = []() -> eager_task<> { co_return; }();
    co_await std::move(ended);
  });
}

TEST_CASE("what never waits may be called under a checked lock, and so may a task") {
  lock_type lock;
  hocket::mutex m;
  semaphore permits(1);
  bool done = false;
  auto called = [&]() -> task<> {
    CHECK(m.try_lock());
    auto got = try_select(permits.acquire());
    CHECK(got.has_value());
    co_return;
  };
  auto body = [&]() -> task<> {
    std::lock_guard held(lock);
    co_await called();
    done = true;
  };
  run_on_a_loop(body);
  CHECK(done);
}

TEST_CASE("what waits under no checked lock goes on, whatever was locked before and in between") {
  lock_type one("one"), other("other");
  checked_lock<std::recursive_mutex> again("again");
  int rounds = 0;
  auto body = [&]() -> task<> {
    for (; rounds < 3; ++rounds) {
      {
        std::scoped_lock both(one, other);
        std::lock_guard first(again);
        std::lock_guard second(again);
      }
      CHECK(one.try_lock());
      {
        std::lock_guard later(other);
        one.unlock();  // not the last one first
      }
      co_await yield();
    }
  };
  loop here;
  static_cast<void>(spawn(here, body));
  here.run();
  CHECK(rounds == 3);
}

TEST_CASE("a plain thread may wait under a checked lock") {
  lock_type lock;
  event ready;
  std::thread other([&] { ready.set(); });
  {
    std::lock_guard held(lock);
    auto set = sync_wait(ready.wait());
    CHECK(set.has_value());
  }
  other.join();
}

TEST_CASE("a checked lock is unlocked by the thread that locked it" * doctest::skip(!detail::debug_checks)) {
  expect_fatal(
      [] {
        lock_type lock;
        lock.lock();
        std::thread([&] { lock.unlock(); }).join();
      },
      "unlocked on a thread that does not hold it");
  expect_fatal(
      [] {
        lock_type lock;
        lock.lock();
      },
      "destroyed while it is held");
}
