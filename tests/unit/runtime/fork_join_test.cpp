// fork_join and parallel_for: on a thread, on a loop, and on runtimes of 1 to 8 workers.
#include <hocket/base/clock.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/monitor.hpp>

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "support/everywhere.hpp"

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

task<int> number(int n) { co_return n; }
task<> count(std::atomic<int>& ran) {
  ++ran;
  co_return;
}
task<int> fail(std::string why) {
  throw std::runtime_error(why);
  co_return 0;
}

// How many tasks live at once.
struct census {
  int now = 0;
  int most = 0;
};
class counted {
 public:
  explicit counted(census& of) noexcept : of_(&of) { of_->most = std::max(of_->most, ++of_->now); }
  counted(counted&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  ~counted() {
    if (of_) --of_->now;
  }
  census& of() const noexcept { return *of_; }

 private:
  census* of_;
};
task<> halves(int depth, counted self) {
  if (depth == 0) co_return;
  auto first = halves(depth - 1, counted(self.of()));
  co_await std::move(first);
  co_await fork_join(halves(depth - 1, counted(self.of())), halves(depth - 1, counted(self.of())));
}

}  // namespace

TEST_CASE("a parent that is killed while no child waits does not run behind its fork_join") {
  loop lp;
  bool is_behind = false;
  join_handle<> parent;
  auto kills = [&]() -> task<> {
    parent.kill();
    co_return;
  };
  auto forks = [&]() -> task<> {
    co_await fork_join(kills(), number(1));
    is_behind = true;
  };
  parent = spawn(lp, forks);
  lp.run();
  CHECK(parent.done());
  CHECK_FALSE(is_behind);
}

TEST_CASE("a recursion gives what a plain one gives") {
  everywhere([]() -> task<> {
    const long got = co_await fib(18);
    CHECK(got == 2584);
  });
}

TEST_CASE("a worker alone goes through what is forked depth first, however often the budget of transfers is used up") {
  constexpr int depth = 9;
  census tasks;
  runtime alone({.workers = 1});
  sync_wait(spawn(alone, [&]() -> task<> { return halves(depth, counted(tasks)); }));
  CHECK(tasks.now == 0);
  CHECK(tasks.most <= 2 * depth + 1);
}

TEST_CASE("results of every kind stand in the order given") {
  everywhere([]() -> task<> {
    int target = 3;
    auto refer = [](int& to) -> task<int&> { co_return to; };
    auto own = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
    auto nothing = []() -> task<> { co_return; };
    auto [a, b, c, d] = co_await fork_join(number(1), refer(target), own(), nothing());
    CHECK(a == 1);
    CHECK(&b == &target);
    CHECK(*c == 4);
    CHECK(d == no_value{});
  });
}

TEST_CASE("a vector of tasks gives a vector, in order") {
  everywhere([]() -> task<> {
    std::vector<task<int>> all;
    for (int i = 0; i < 100; ++i) all.push_back(number(i));
    const std::vector<int> got = co_await fork_join(std::move(all));
    REQUIRE(got.size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(got[static_cast<std::size_t>(i)] == i);
    std::vector<task<int>> none;
    const std::vector<int> nothing = co_await fork_join(std::move(none));
    CHECK(nothing.empty());
  });
}

TEST_CASE("the first exception in the order given is rethrown when all have ended") {
  everywhere([]() -> task<> {
    std::atomic<int> ran{0};
    std::string caught;
    try {
      auto first = count(ran);
      auto bad = fail("one"), worse = fail("two");
      static_cast<void>(co_await fork_join(std::move(first), std::move(bad), std::move(worse)));
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    CHECK(caught == "one");
    CHECK(ran == 1);
  });
}

TEST_CASE("what has not begun when one fails does not begin") {
  std::atomic<int> ran{0};
  auto body = [&]() -> task<> {
    std::vector<task<>> all;
    auto bad = []() -> task<> {
      throw std::runtime_error("no");
      co_return;
    };
    all.push_back(bad());
    for (int i = 0; i < 10; ++i) all.push_back(count(ran));
    CHECK_THROWS_AS(co_await fork_join(std::move(all)), std::runtime_error);
  };
  auto whole = body();
  sync_wait(std::move(whole));
  CHECK(ran == 0);
}

TEST_CASE("children that wait let their worker go on with the rest") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    auto body = []() -> task<int> {
      event ready;
      auto waits = [&ready](int n) -> task<int> {
        auto got = co_await ready.wait();
        co_return got ? n : 0;
      };
      auto sets = [&ready]() -> task<int> {
        co_await yield();
        ready.set();
        co_return 100;
      };
      auto [a, b, c] = co_await fork_join(waits(1), waits(10), sets());
      co_return a + b + c;
    };
    std::vector<join_handle<int>> all;
    for (int i = 0; i < 50; ++i) all.push_back(spawn(rt, body));
    for (auto& one : all) CHECK(sync_wait(std::move(one)) == 111);
  }
}

TEST_CASE("what is forked is not in a monitor together") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    std::atomic<int> most{0};
    auto body = [&]() -> task<> {
      monitor m;
      event seen;
      std::atomic<int> inside{0};
      auto visit = [&]() -> task<> {
        auto in = co_await m.enter();
        most = std::max(most.load(), ++inside);
        [[maybe_unused]] auto set = co_await seen.wait();
        --inside;
      };
      auto come_last = [&]() -> task<> {
        seen.set();
        co_return;
      };
      co_await fork_join(visit(), visit(), visit(), come_last());
    };
    sync_wait(spawn(rt, body));
    CHECK(most == 1);
  }
}

TEST_CASE("a second worker takes a part of what is forked") {
  hocket::runtime rt({.workers = 2});
  std::atomic<int> here{0};
  auto meet = [&here]() -> task<> {
    ++here;
    while (here.load() < 2) std::this_thread::yield();
    co_return;
  };
  auto body = [&]() -> task<> { static_cast<void>(co_await fork_join(meet(), meet())); };
  sync_wait(spawn(rt, body));
  CHECK(here == 2);
}

TEST_CASE("a child of a when_all stays with its siblings when it has forked") {
  hocket::runtime rt({.workers = 4});
  auto parent = []() -> task<long> {
    long unprotected = 0;
    auto child = [&unprotected]() -> task<long> {
      for (int i = 0; i < 20; ++i) {
        const long seen = unprotected;
        const long got = co_await fib(8);
        unprotected = std::max(unprotected, seen) + got;
        co_await yield();
      }
      co_return 1;
    };
    auto [a, b] = co_await when_all(child(), child());
    co_return unprotected > 0 ? a + b : 0;
  };
  std::vector<join_handle<long>> all;
  for (int i = 0; i < 20; ++i) all.push_back(spawn(rt, parent));
  for (auto& one : all) CHECK(sync_wait(std::move(one)) == 2);
}

TEST_CASE("a coroutine that is killed unwinds when its children have") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    event never;
    std::atomic<int> waiting{0};
    auto shared = std::make_shared<int>(0);
    {
      hocket::runtime rt({.workers = workers});
      auto waits = [&](std::shared_ptr<int>) -> task<> {
        ++waiting;
        static_cast<void>(co_await never.wait());
      };
      auto body = [&](std::shared_ptr<int> held) -> task<> {
        static_cast<void>(co_await fork_join(waits(held), waits(held), waits(held)));
      };
      auto handle = spawn(rt, body, shared);
      while (waiting.load() < 3) std::this_thread::yield();
      handle.kill();
      while (!handle.done()) std::this_thread::yield();
    }
    CHECK(shared.use_count() == 1);
  }
}

TEST_CASE("a cancellation of the parent ends the waits of its children, and so does its deadline") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    manual_clock time;
    event never;
    std::atomic<int> waiting{0};
    hocket::runtime rt({.workers = workers, .clock = &time});
    auto waits = [&]() -> task<std::error_code> {
      ++waiting;
      auto got = co_await never.wait();
      co_return got ? std::error_code{} : got.error();
    };
    auto below = [&]() -> task<std::error_code> {
      auto [a, b] = co_await fork_join(waits(), waits());
      co_return a == b ? a : std::error_code{};
    };
    auto body = [&]() -> task<std::error_code> {
      auto [a, b, c] = co_await fork_join(waits(), below(), waits());
      co_return a == b&& b == c ? a : std::error_code{};
    };
    auto cancelled_one = spawn(rt, body);
    while (waiting < 4) std::this_thread::yield();
    cancelled_one.cancel();
    CHECK(sync_wait(std::move(cancelled_one)) == std::errc::operation_canceled);
    auto late = spawn(rt, {.within = 1h}, body);
    while (waiting < 8) std::this_thread::yield();
    CHECK_FALSE(late.done());
    time.advance(1h);
    rt.clock_moved();
    CHECK(sync_wait(std::move(late)) == std::errc::timed_out);
  }
}

TEST_CASE("an exception of a child is rethrown when its siblings have waited to their end") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    event bell;
    std::atomic<int> waiting{0}, over{0};
    std::atomic<bool> failed{false};
    hocket::runtime rt({.workers = workers});
    auto waits = [&]() -> task<> {
      ++waiting;
      static_cast<void>(co_await bell.wait());
      ++over;
    };
    auto fails = [&]() -> task<> {
      while (waiting < 2) co_await yield();
      failed = true;
      throw std::runtime_error("no");
    };
    auto body = [&]() -> task<int> {
      try {
        co_await fork_join(waits(), waits(), fails());
      } catch (const std::runtime_error&) {
        co_return over.load();
      }
      co_return -1;
    };
    auto handle = spawn(rt, body);
    while (!failed) std::this_thread::yield();
    CHECK_FALSE(handle.done());
    bell.set();
    CHECK(sync_wait(std::move(handle)) == 2);
  }
}

TEST_CASE("parallel_for calls the body once for each index") {
  everywhere([]() -> task<> {
    std::vector<std::atomic<int>> calls(5000);
    co_await parallel_for(std::size_t{0}, calls.size(), [&](std::size_t i) { ++calls[i]; });
    co_await parallel_for(0, 5000, [&](int i) -> task<> { co_await count(calls[static_cast<std::size_t>(i)]); }, 16);
    co_await parallel_for(7, 7, [&](int) { ++calls[0]; });
    int wrong = 0;
    for (auto& n : calls) wrong += n != 2;
    CHECK(wrong == 0);
  });
}
