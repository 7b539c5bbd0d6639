// Fault 9: a ready queue that never gets empty starves the timers, and posts of other threads. A thousand tasks yield
// without end, and one of them moves the clock: a due coroutine then runs before any of them has run twice more. Forked
// children begin, too, beside a coroutine that is always ready and must stay on its worker. So do ready coroutines
// beside one that never suspends, because there is always an item to receive: it lets others run after 256 operations
// (the budget of core/wait/seam/operation.hpp), and a kill reaches it. (Work that holds its worker: fault 8,
// tests/unit/runtime/runtime_test.cpp, runtime/stackful/runtime_fibers_test.cpp.)
#include <hocket/base/clock.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/time/sleep.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr int busy_tasks = 1'000;

struct storm {
  manual_clock time;
  std::atomic<long> yields{0};
  std::atomic<long> due_since{0}, woken_after{0};
  std::atomic<bool> sleeping{false}, over{false};

  task<> busy() {
    while (!over.load()) {
      ++yields;
      co_await yield();
    }
  }
  task<> sleeps() {
    sleeping = true;
    auto slept = co_await sleep_for(10ms);
    CHECK(slept.has_value());
    woken_after = yields - due_since;
    over = true;
  }
  task<> moves_the_clock() {
    while (!sleeping.load() || yields < 20 * busy_tasks) co_await yield();
    due_since = yields.load();
    time.advance(10ms);
  }
};

auto begin(storm& in, auto& where) {
  for (int i = 0; i < busy_tasks; ++i) static_cast<void>(spawn(where, &storm::busy, &in));
  static_cast<void>(spawn(where, &storm::moves_the_clock, &in));
  return spawn(where, &storm::sleeps, &in);
}

// One coroutine for each worker of a runtime, begun apart, with a part that is always ready. This part gives up when
// the parts of all workers have yielded more often than any wait should take (one alone may do so while the machine
// gives another worker no time).
struct crowd {
  static constexpr long most_yields = 1'000'000;
  const std::size_t workers;
  std::atomic<std::size_t> begun{0};
  std::array<std::atomic<long>, 2> yields{};

  std::size_t meet() {
    const std::size_t index = begun++;
    while (begun < workers) std::this_thread::yield();
    return index;
  }
  bool gave_up() const {
    return std::all_of(yields.begin(), yields.begin() + static_cast<std::ptrdiff_t>(workers),
                       [](const auto& of_one) { return of_one >= most_yields; });
  }
  task<> turns(std::size_t index, const std::atomic<bool>& over) {
    while (!over && !gave_up()) {
      ++yields[index];
      co_await yield();
    }
  }
};

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

task<> forks_beside_a_sibling(crowd& in) {
  const std::size_t index = in.meet();
  std::atomic<bool> over{false};
  auto stops = [&]() -> task<> {
    over = true;
    co_return;
  };
  co_await fork_join(in.turns(index, over), stops());
}
task<> computes_beside_one_that_stays(crowd& in) {
  const std::size_t index = in.meet();
  std::atomic<bool> over{false};
  auto computes = [&]() -> task<> {
    const long got = co_await fib(20);
    CHECK(got == 6765);
    over = true;
  };
  co_await when_all(in.turns(index, over), computes());
}

void run_on_each_worker(task<> (*body)(crowd& in)) {
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    CAPTURE(workers);
    crowd in{workers};
    hocket::runtime rt({.workers = workers});
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < workers; ++i) all.push_back(spawn(rt, body, std::ref(in)));
    for (auto& one : all) sync_wait(std::move(one));
    CHECK_FALSE(in.gave_up());
  }
}

// A coroutine that sends and receives, and never has to wait.
struct flood {
  static constexpr long budget = 256, turn = 64;
  manual_clock time;
  channel<int> items{1};
  std::atomic<long> operations{0};
  long due_since = 0, woken_after = 0;
  bool over = false;

  task<> flows(long most) {
    while (!over && operations < most) {
      auto sent = co_await items.send(1);
      auto got = co_await items.receive();
      if (!sent || !got) co_return;
      operations += 2;
      if (operations != 10 * budget) continue;
      due_since = operations;
      time.advance(10ms);
    }
  }
  task<> sleeps() {
    auto slept = co_await sleep_for(10ms);
    CHECK(slept.has_value());
    woken_after = operations - due_since;
    over = true;
  }
};

}  // namespace

TEST_CASE("fault 9: a timer that is due fires beside one that never has to wait") {
  constexpr long enough = 100 * flood::turn * flood::budget;
  flood in;
  SUBCASE("on a loop") {
    loop lp({.clock = &in.time});
    auto sleeper = spawn(lp, &flood::sleeps, &in);
    static_cast<void>(spawn(lp, &flood::flows, &in, enough));
    lp.run_until(sleeper);
  }
  SUBCASE("on a runtime") {
    hocket::runtime rt({.workers = 1, .clock = &in.time});
    auto both = [&]() -> task<> {
      auto sleeper = spawn(rt, &flood::sleeps, &in);
      static_cast<void>(spawn(rt, &flood::flows, &in, enough));
      co_await sleeper;
    };
    sync_wait(spawn(rt, both));
  }
  CHECK(in.due_since != 0);
  CHECK(in.woken_after <= 2 * flood::turn * flood::budget);
}

TEST_CASE("fault 9: a kill from outside ends one that never has to wait") {
  flood in;
  hocket::runtime rt({.workers = 1, .clock = &in.time});
  auto victim = spawn(rt, &flood::flows, &in, 200'000'000l);
  auto gives = [](int n) -> task<int> { co_return n; };
  for (int i = 0; i < 100; ++i) CHECK(sync_wait(spawn(rt, gives, i)) == i);
  victim.kill();
  auto ended = sync_wait(victim.join());
  REQUIRE_FALSE(ended.has_value());
  CHECK(ended.error() == std::errc::operation_canceled);
}

TEST_CASE("fault 9: a timer that is due fires within the turn in which the clock is looked at next") {
  storm in;
  SUBCASE("on a loop") {
    loop lp({.clock = &in.time});
    auto sleeper = begin(in, lp);
    lp.run_until(sleeper);
  }
  SUBCASE("on a runtime") {
    hocket::runtime rt({.workers = 1, .clock = &in.time});
    auto sleeper = begin(in, rt);
    sync_wait(std::move(sleeper));
  }
  CHECK(in.woken_after <= 2 * busy_tasks);
}

TEST_CASE("fault 9: what another thread spawns runs beside a storm of yields") {
  storm in;
  hocket::runtime rt({.workers = 2, .clock = &in.time});
  for (int i = 0; i < busy_tasks; ++i) static_cast<void>(spawn(rt, &storm::busy, &in));
  auto gives = [](int n) -> task<int> { co_return n; };
  for (int i = 0; i < 100; ++i) CHECK(sync_wait(spawn(rt, gives, i)) == i);
  in.over = true;
}

TEST_CASE("fault 9: what is forked begins beside a sibling that is always ready") {
  run_on_each_worker(&forks_beside_a_sibling);
}

TEST_CASE("fault 9: a computation that forks goes on beside a coroutine that is always ready and stays") {
  run_on_each_worker(&computes_beside_one_that_stays);
}
