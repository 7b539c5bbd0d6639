// The runtime: tasks on 1, 2, 4 and 8 workers. Its races are in tests/stress/runtime_races.cpp, its fibers in
// stackful/runtime_fibers_test.cpp.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "runtime/platform/cpu_count.hpp"
#include "support/death.hpp"
#include "support/runtime_look.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t worker_counts[] = {1, 2, 4, 8};

task<int> twice(int n) {
  co_await yield();
  co_return 2 * n;
}

task<long> sum_of_spawned(int count) {
  std::vector<join_handle<int>> all;
  for (int i = 0; i < count; ++i) all.push_back(spawn(twice, i));
  long sum = 0;
  for (auto& one : all) sum += co_await std::move(one);
  co_return sum;
}

// Holds its worker until all of `others` have said that they ran.
task<> hold_until(std::atomic<int>& done, int others) {
  while (done.load() < others) std::this_thread::yield();
  co_return;
}

task<> count_up(std::atomic<int>& done) {
  ++done;
  co_return;
}

task<> wait_for(event& bell, std::atomic<int>& woken) {
  if (auto got = co_await bell.wait()) ++woken;
}

}  // namespace

TEST_CASE("what is spawned from outside and from inside runs, and gives its result") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    CHECK(rt.workers() == workers);
    std::vector<join_handle<long>> all;
    for (int i = 0; i < 8; ++i) all.push_back(spawn(rt, sum_of_spawned, 200));
    for (auto& one : all) CHECK(sync_wait(std::move(one)) == 200 * 199);
  }
}

TEST_CASE("a runtime without a number has a worker for each CPU that it may use") {
  hocket::runtime rt;
  CHECK(rt.workers() == detail::usable_cpus());  // cpu_count_test.cpp
}

TEST_CASE("more workers than a runtime can have are refused") {
  CHECK_THROWS_AS(hocket::runtime({.workers = hocket::runtime::max_workers + 1}), std::system_error);
}

TEST_CASE("a sleeping worker is woken by each spawn from outside") {  // FAULTS 1, 3
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    for (int i = 0; i < 2000; ++i) REQUIRE(sync_wait(spawn(rt, twice, i)) == 2 * i);
  }
}

TEST_CASE("two workers run two tasks at the same time") {
  hocket::runtime rt({.workers = 2});
  std::atomic<int> here{0};
  auto meet = [&here]() -> task<> {
    ++here;
    while (here.load() < 2) std::this_thread::yield();
    co_return;
  };
  auto first = spawn(rt, meet), second = spawn(rt, meet);
  sync_wait(std::move(first));
  sync_wait(std::move(second));
}

TEST_CASE("a task that holds its worker holds up nothing that others can run") {  // FAULT 8
  for (const auto workers : {std::size_t{2}, std::size_t{4}}) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    std::atomic<int> done{0};
    // Some come before it, some from itself, some later, from outside.
    auto rogue = [&]() -> task<> {
      for (int i = 0; i < 300; ++i) static_cast<void>(spawn(count_up, std::ref(done)));
      auto hold = hold_until(done, 900);
      co_await std::move(hold);
    };
    for (int i = 0; i < 150; ++i) static_cast<void>(spawn(rt, count_up, std::ref(done)));
    auto held = spawn(rt, rogue);
    for (int i = 0; i < 450; ++i) static_cast<void>(spawn(rt, count_up, std::ref(done)));
    sync_wait(std::move(held));
    CHECK(done == 900);
  }
}

TEST_CASE("the last task in a queue is taken from a worker that is held") {
  hocket::runtime rt({.workers = 2});
  std::atomic<int> done{0};
  auto rogue = [&]() -> task<> {
    static_cast<void>(spawn(count_up, std::ref(done)));
    auto hold = hold_until(done, 1);
    co_await std::move(hold);
  };
  sync_wait(spawn(rt, rogue));
  CHECK(done == 1);
}

TEST_CASE("waits of a task are granted from any thread, and it goes on where there is time") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    event bell;
    std::atomic<int> woken{0};
    std::vector<join_handle<>> all;
    for (int i = 0; i < 100; ++i) all.push_back(spawn(rt, wait_for, std::ref(bell), std::ref(woken)));
    bell.set();
    for (auto& one : all) sync_wait(std::move(one));
    CHECK(woken == 100);
  }
}

TEST_CASE("a spawn from outside that ends a sleep is a ring, and a wake-up by a timer is none") {
  hocket::runtime rt({.workers = 1});
  detail::runtime_look::wait_until_asleep(rt);
  const std::size_t before = rt.counts().wakeups;
  auto naps = []() -> task<> { static_cast<void>(co_await sleep_for(1ms)); };
  sync_wait(spawn(rt, naps));
  detail::runtime_look::wait_until_asleep(rt);
  CHECK(rt.counts().wakeups == before + 1);
  CHECK(rt.counts().sleeps > before + 1);
}

// 63 others and its own.
TEST_CASE("a run that has done the work of a turn ends the turn of its worker") {
  hocket::runtime rt({.workers = 1});
  auto work = [&rt]() -> task<std::size_t> {
    const std::size_t before = rt.counts().turns;
    for (int i = 0; i < 1000; ++i) {
      detail::spend_turn(63);
      co_await yield();
    }
    co_return rt.counts().turns - before;
  };
  CHECK(sync_wait(spawn(rt, work)) == 1000);
  // What it has spent are no resumes.
  CHECK(rt.counts().resumed <= 1002);
}

TEST_CASE("deadlines fire on every worker") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    event never;
    auto wait = [&]() -> task<std::error_code> {
      auto got = co_await within(1ms, never.wait());
      co_return got.error();
    };
    std::vector<join_handle<std::error_code>> all;
    for (int i = 0; i < 50; ++i) all.push_back(spawn(rt, wait));
    for (auto& one : all) CHECK(sync_wait(std::move(one)) == std::errc::timed_out);
    CHECK(sync_wait(spawn(rt, {.within = 1ms}, wait)) == std::errc::timed_out);
  }
}

TEST_CASE("a mutex protects what tasks of several workers share") {
  hocket::runtime rt({.workers = 4});
  mutex guard;
  int shared = 0;
  auto add = [&]() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto held = co_await guard.lock();
      ++shared;
      if (i % 8 == 0) co_await yield();
    }
  };
  std::vector<join_handle<>> all;
  for (int i = 0; i < 20; ++i) all.push_back(spawn(rt, add));
  for (auto& one : all) sync_wait(std::move(one));
  CHECK(shared == 4000);
}

TEST_CASE("the children of a when_all run on one worker at a time") {
  hocket::runtime rt({.workers = 4});
  auto parent = []() -> task<int> {
    int unprotected = 0;
    auto child = [&unprotected]() -> task<int> {
      for (int i = 0; i < 100; ++i) {
        const int seen = unprotected;
        if (i % 3 == 0) co_await yield();
        else unprotected = seen + 1;
      }
      co_return 1;
    };
    auto [a, b, c] = co_await when_all(child(), child(), child());
    co_return unprotected > 0 ? a + b + c : 0;
  };
  std::vector<join_handle<int>> all;
  for (int i = 0; i < 50; ++i) all.push_back(spawn(rt, parent));
  for (auto& one : all) CHECK(sync_wait(std::move(one)) == 3);
}

TEST_CASE("a task of a runtime awaits one of a loop, and the other way round") {
  hocket::runtime rt({.workers = 2});
  loop lp;
  auto ask = [](spawn_target& where) -> task<int> { co_return co_await spawn(where, twice, 4); };
  auto from_runtime = spawn(rt, ask, std::ref<spawn_target>(lp));
  auto from_loop = spawn(lp, ask, std::ref<spawn_target>(rt));
  lp.run_until(from_loop);
  CHECK(sync_wait(std::move(from_loop)) == 8);
  while (!from_runtime.done()) lp.run_for(1ms);
  CHECK(sync_wait(std::move(from_runtime)) == 8);
}

TEST_CASE("cancel_all ends the waits of all that was spawned") {
  hocket::runtime rt({.workers = 2});
  event never;
  std::atomic<int> cancelled{0};
  std::atomic<int> waiting{0};
  auto wait = [&]() -> task<> {
    ++waiting;
    auto got = co_await never.wait();
    if (!got && got.error() == std::errc::operation_canceled) ++cancelled;
  };
  std::vector<join_handle<>> all;
  for (int i = 0; i < 20; ++i) all.push_back(spawn(rt, wait));
  rt.cancel_all();
  for (auto& one : all) sync_wait(std::move(one));
  CHECK(cancelled == 20);
  while (rt.live() != 0) std::this_thread::yield();  // whoever joins is told before the runtime is
}

TEST_CASE("a runtime that is destroyed kills what is left in whatever state") {  // FAULT 61
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    for (int i = 0; i < 50; ++i) {
      event never;
      auto shared = std::make_shared<int>(0);
      {
        hocket::runtime rt({.workers = workers});
        auto wait = [&never](std::shared_ptr<int>) -> task<> { static_cast<void>(co_await never.wait()); };
        auto timed = [&never](std::shared_ptr<int>) -> task<> { static_cast<void>(co_await within(1h, never.wait())); };
        auto busy = [](std::shared_ptr<int>) -> task<> {
          for (;;) co_await yield();
        };
        auto joins = [&never](std::shared_ptr<int> held) -> task<> {
          auto child = [&never](std::shared_ptr<int>) -> task<> { static_cast<void>(co_await never.wait()); };
          co_await spawn(child, held);
        };
        for (int k = 0; k < 3; ++k) {
          static_cast<void>(spawn(rt, wait, shared));
          static_cast<void>(spawn(rt, timed, shared));
          static_cast<void>(spawn(rt, busy, shared));
          static_cast<void>(spawn(rt, joins, shared));
        }
      }
      REQUIRE(shared.use_count() == 1);
    }
  }
}

TEST_CASE("an exception that nobody receives goes to on_unhandled") {
  static std::atomic<int> unhandled{0};
  unhandled = 0;
  {
    hocket::runtime rt(
        {.workers = 2, .on_unhandled = [](std::exception_ptr, const context&) noexcept { ++unhandled; }});
    auto fail = []() -> task<> {
      throw 1;
      co_return;
    };
    for (int i = 0; i < 10; ++i) static_cast<void>(spawn(rt, fail));
    while (rt.live() != 0) std::this_thread::yield();
  }
  CHECK(unhandled == 10);
}

TEST_CASE("a runtime that is destroyed by one of its coroutines says so") {
  const auto destroy_within = [] {
    auto rt = std::make_unique<hocket::runtime>(runtime_options{.workers = 1});
    auto destroy = [&]() -> task<> {
      rt.reset();
      co_return;
    };
    sync_wait(spawn(*rt, destroy));
  };
  expect_fatal(destroy_within, "a runtime was destroyed by one of its own coroutines");
}
