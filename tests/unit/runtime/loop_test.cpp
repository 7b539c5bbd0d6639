// The loop, with tasks.
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/time/sleep.hpp>

#include "support/death.hpp"
#include "unit/runtime/gate.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> note(std::vector<int>& order, int what) {
  order.push_back(what);
  co_return;
}

task<> note_twice(std::vector<int>& order, int what) {
  order.push_back(what);
  co_await yield();
  order.push_back(what);
}

task<std::error_code> pass(gate& at) {
  auto passed = co_await at.pass();
  co_return passed ? std::error_code{} : passed.error();
}

// Sets a flag when it is destroyed.
struct witness {
  bool* gone;
  explicit witness(bool& flag) noexcept : gone(&flag) {}
  witness(const witness&) = delete;
  ~witness() { *gone = true; }
};

task<int> answer() { co_return 42; }
task<int> refuse() {
  throw std::runtime_error("refused");
  co_return 0;
}

}  // namespace

TEST_CASE("coroutines run in the order of their spawns, and a yield goes to the end") {
  loop lp;
  std::vector<int> order;
  for (int i : {1, 2, 3}) spawn(lp, note_twice, std::ref(order), i);
  CHECK(order.empty());
  CHECK(lp.live() == 3);
  lp.run();
  CHECK(order == std::vector{1, 2, 3, 1, 2, 3});
  CHECK(lp.live() == 0);
}

TEST_CASE("a result is given by the handle, once the loop has run") {
  loop lp;
  auto handle = spawn(lp, answer);
  CHECK_FALSE(handle.done());
  lp.run_until(handle);
  CHECK(handle.done());
  CHECK(sync_wait(handle) == 42);
}

TEST_CASE("what leaves a coroutine leaves the await of its handle") {
  loop lp;
  auto handle = spawn(lp, refuse);
  lp.run();
  CHECK_THROWS_WITH_AS(sync_wait(handle), "refused", std::runtime_error);
}

TEST_CASE("run gives what its first coroutine gives") {
  CHECK(run(answer) == 42);
  CHECK_THROWS_AS(run(refuse), std::runtime_error);
}

TEST_CASE("arguments are stored by value, and destroyed when the coroutine has ended") {
  loop lp;
  auto token = std::make_shared<int>(7);
  auto handle = spawn(lp, [](std::shared_ptr<int> mine) -> task<int> { co_return *mine; }, token);
  CHECK(token.use_count() == 2);
  lp.run();
  CHECK(token.use_count() == 1);
  CHECK(sync_wait(handle) == 7);
}

TEST_CASE("a member function is spawned with its object") {
  struct counter {
    int count = 0;
    task<> add(int n) {
      count += n;
      co_return;
    }
  } sum;
  loop lp;
  spawn(lp, &counter::add, &sum, 3);
  lp.run();
  CHECK(sum.count == 3);
}

TEST_CASE("step resumes one coroutine") {
  loop lp;
  std::vector<int> order;
  CHECK_FALSE(lp.step());
  for (int i : {1, 2}) spawn(lp, note, std::ref(order), i);
  CHECK(lp.step());
  CHECK(order == std::vector{1});
  CHECK(lp.step());
  CHECK(order == std::vector{1, 2});
  CHECK_FALSE(lp.step());
}

TEST_CASE("a coroutine spawns beside itself") {
  loop lp;
  std::vector<int> order;
  auto parent = [&]() -> task<> {
    auto child = spawn(note, std::ref(order), 1);
    order.push_back(0);
    co_await child;
    order.push_back(2);
  };
  spawn(lp, parent);
  lp.run();
  CHECK(order == std::vector{0, 1, 2});
}

TEST_CASE("a wait under a deadline ends when virtual time has come, and never before") {
  manual_clock time;
  loop lp({.clock = &time});
  gate shut;
  std::error_code ended;
  auto wait = [&]() -> task<> {
    auto passed = co_await shut.pass().within(10ms);
    ended = passed.error();
  };
  spawn(lp, wait);
  lp.run();
  CHECK(lp.live() == 1);
  time.advance(10ms - 1ns);
  lp.run();
  CHECK(lp.live() == 1);
  time.advance(1ns);
  lp.run();
  CHECK(ended == std::errc::timed_out);
}

TEST_CASE("the simulated parker moves virtual time to the next timer") {
  manual_clock time;
  simulated_parker parks(time);
  loop lp({.clock = &time, .parker = &parks});
  gate shut;
  std::vector<int> order;
  auto wait = [&](int what, duration how_long) -> task<> {
    CHECK_FALSE(co_await shut.pass().within(how_long));
    order.push_back(what);
  };
  spawn(lp, wait, 2, 2h);
  spawn(lp, wait, 3, 24h * 365);
  spawn(lp, wait, 1, 1ns);
  lp.run();
  CHECK(order == std::vector{1, 2, 3});
  CHECK(time.now() == time_point{} + 24h * 365);
}

TEST_CASE("run_for ends when its time is over") {
  manual_clock time;
  simulated_parker parks(time);
  loop lp({.clock = &time, .parker = &parks});
  gate shut;
  auto handle = spawn(lp, pass, std::ref(shut));
  lp.run_for(16ms);
  CHECK(time.now() == time_point{} + 16ms);
  CHECK_FALSE(handle.done());
  shut.open();
  lp.run();
  CHECK(sync_wait(handle) == std::error_code{});
}

TEST_CASE("run_for of no time runs all that is ready or due, and is no run without end") {
  manual_clock time;
  loop lp({.clock = &time});
  int begun = 0, woken = 0;
  std::vector<join_handle<>> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(spawn(lp, [&]() -> task<> {
      ++begun;
      co_await sleep_for(1s);
      ++woken;
      while (co_await yield()) continue;
    }));
  }
  lp.run_for(0ms);
  CHECK(begun == 200);
  CHECK(woken == 0);
  time.advance(1s);
  lp.run_for(0ms);
  CHECK(woken == 200);
  lp.run_for(0ms);
  lp.cancel_all();
  lp.run();
}

TEST_CASE("a coroutine that was spawned with a deadline finds it in all of its waits") {
  manual_clock time;
  simulated_parker parks(time);
  loop lp({.clock = &time, .parker = &parks});
  gate shut;
  auto handle = spawn(lp, {.name = "hasty", .within = 5ms}, pass, std::ref(shut));
  lp.run();
  CHECK(sync_wait(handle) == std::errc::timed_out);
  CHECK(time.now() == time_point{} + 5ms);
}

TEST_CASE("a deadline in the past ends a wait at once, and one at the end of time never does") {
  manual_clock time(time_point{} + 1h);
  loop lp({.clock = &time});
  gate shut;
  std::error_code ended;
  auto late = [&]() -> task<> { ended = (co_await shut.pass().until(time_point::min())).error(); };
  auto patient = [&]() -> task<> { CHECK(co_await shut.pass().until(time_point::max())); };
  spawn(lp, late);
  spawn(lp, patient);
  lp.run();
  CHECK(ended == std::errc::timed_out);
  CHECK(lp.live() == 1);
  shut.open();
  lp.run();
  CHECK(lp.live() == 0);
}

TEST_CASE("other threads spawn and stop") {
  loop lp;
  std::vector<int> order;
  std::thread other([&] {
    spawn(lp, note, std::ref(order), 1);
    lp.stop();
  });
  lp.run_for(1h);
  other.join();
  lp.run();
  CHECK(order == std::vector{1});
}

TEST_CASE("a stop that came with the end of a run does not end the next one; one between runs ends that after a turn") {
  loop lp;
  std::vector<int> order;
  auto stop_and_end = [&]() -> task<> {
    lp.stop();
    co_return;
  };
  spawn(lp, stop_and_end);
  lp.run();
  spawn(lp, note, std::ref(order), 1);
  lp.run();
  CHECK(order == std::vector{1});
  lp.stop();
  spawn(lp, note, std::ref(order), 2);
  auto spin = [&]() -> task<> {
    for (;;) co_await yield();
  };
  auto endless = spawn(lp, spin);
  lp.run();
  CHECK(order == std::vector{1, 2});
  endless.kill();
}

TEST_CASE("a poll consumes a stop, and the next run goes on") {
  loop lp;
  int turns = 0;
  auto yields = [&]() -> task<> {
    for (; turns != 200; ++turns) co_await yield();
  };
  spawn(lp, yields);
  lp.stop();
  lp.poll();
  CHECK(turns < 200);
  lp.run();
  CHECK(turns == 200);
}

TEST_CASE("a loop that is run until a coroutine of another loop ends is fatal") {
  auto wait_for_the_wrong_one = [] {
    loop lp, other;
    std::vector<int> order;
    auto handle = spawn(other, note, std::ref(order), 1);
    lp.run_until(handle);
  };
  expect_fatal(wait_for_the_wrong_one, "a coroutine of another one");
}

TEST_CASE("a loop waits for what another thread will do") {
  loop lp;
  gate shut;
  auto handle = spawn(lp, pass, std::ref(shut));
  lp.step();
  std::thread other([&] { shut.open(); });
  lp.run();
  other.join();
  CHECK(handle.done());
}

TEST_CASE("more coroutines become ready at once than the run queue's array holds") {
  loop lp;
  gate shut;
  int passed = 0;
  auto wait = [&]() -> task<> {
    CHECK(co_await shut.pass());
    ++passed;
  };
  for (int i = 0; i < 1000; ++i) spawn(lp, wait);
  while (lp.step()) {
  }
  shut.open();
  lp.run();
  CHECK(passed == 1000);
}

TEST_CASE("a loop is not run by its own coroutine") {
  auto nested = [] {
    loop lp;
    spawn(lp, [&]() -> task<> {
      lp.run();
      co_return;
    });
    lp.run();
  };
  expect_fatal(nested, "run by a coroutine");
}

TEST_CASE("an operation that nobody awaits is fatal at level debug") {
  if constexpr (detail::debug_checks) {
    auto forget = [] {
      gate shut;
      static_cast<void>(shut.pass());
    };
    expect_fatal(forget, "without being awaited");
  }
}

TEST_CASE("the names of a context lead to the coroutine and its loop") {
  loop lp({.name = "frontend"});
  std::vector<std::string> names;
  auto look = [&]() -> task<> {
    names.push_back(current_context().name());
    names.push_back(current_context().coroutine()->parent()->name());
    co_return;
  };
  spawn(lp, look);
  spawn(lp, {.name = "login"}, look);
  lp.run();
  CHECK(names == std::vector<std::string>{"frontend", "frontend", "login", "frontend"});
}

TEST_CASE("each coroutine runs under its own context, whoever ran before it") {
  loop lp;
  int wrong = 0;
  auto leaf = [&](const context* mine) -> task<> {
    co_await yield();
    wrong += mine != &current_context();
  };
  auto check = [&]() -> task<> {
    const context* mine = &current_context();
    for (int i = 0; i < 600; ++i) {  // more than a budget of transfers
      co_await leaf(mine);
      wrong += mine != &current_context();
    }
  };
  for (int i = 0; i < 3; ++i) spawn(lp, check);
  lp.run();
  CHECK(wrong == 0);
}
