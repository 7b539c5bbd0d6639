// blocking(): calls that block, on threads of their own.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

int add(int a, int b) { return a + b; }

// Something that a call blocks on.
class gate {
 public:
  void open() noexcept {
    open_ = 1;
    open_.notify_all();
  }
  void pass() noexcept {
    ++arrived_;
    arrived_.notify_all();
    open_.wait(0);
  }
  void wait_for(int arrivals) noexcept {
    for (int seen = arrived_; seen < arrivals; seen = arrived_) arrived_.wait(seen);
  }

 private:
  std::atomic<int> open_{0};
  std::atomic<int> arrived_{0};
};

task<std::error_code> pass_through(blocking_pool& pool, gate& door) {
  auto done = co_await blocking(pool, &gate::pass, std::ref(door));
  co_return done ? std::error_code{} : done.error();
}

task<std::error_code> count_on(blocking_pool& pool, std::atomic<int>& calls) {
  auto done = co_await blocking(pool, [&] { ++calls; });
  co_return done ? std::error_code{} : done.error();
}

// One thread, which is held by a call at `door`.
struct held_pool {
  explicit held_pool(std::size_t queue = 100) : pool({.threads = 1, .queue = queue}) {
    holder = spawn(lp, pass_through, std::ref(pool), std::ref(door));
    lp.step();
    door.wait_for(1);
  }
  std::error_code end_of(join_handle<std::error_code>& h) {
    lp.run_until(h);
    return sync_wait(std::move(h));
  }

  gate door;
  blocking_pool pool;
  loop lp;
  join_handle<std::error_code> holder;
};

}  // namespace

TEST_CASE("a blocking call gives what the callable returns, and runs on another thread") {
  blocking_pool pool;
  CHECK(sync_wait(blocking(pool, add, 1, 2)).value() == 3);
  loop lp;
  const auto here = std::this_thread::get_id();
  auto body = [&]() -> task<int> {
    auto where = co_await blocking(pool, [] { return std::this_thread::get_id(); });
    CHECK(where.value() != here);
    CHECK(std::this_thread::get_id() == here);
    auto nothing = co_await blocking(pool, [] {});
    CHECK(nothing.has_value());
    int local = 0;
    auto same = co_await blocking(pool, [&]() -> int& { return local; });
    CHECK(&same.value() == &local);
    auto moved = co_await blocking(pool, [](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(7));
    co_return **moved;
  };
  auto h = spawn(lp, body);
  lp.run();
  CHECK(sync_wait(std::move(h)) == 7);
}

TEST_CASE("results do not nest, and exceptions come out of the await") {
  blocking_pool pool;
  auto refused = []() -> result<int> { return failure(std::make_error_code(std::errc::io_error)); };
  CHECK(sync_wait(blocking(pool, refused)).error() == std::errc::io_error);
  CHECK(sync_wait(blocking(pool, []() -> result<int> { return 4; })).value() == 4);
  CHECK_THROWS_WITH_AS(static_cast<void>(sync_wait(blocking(pool, []() -> int { throw std::runtime_error("no"); }))),
                       "no", std::runtime_error);
}

TEST_CASE("a call that stands in line is cancelled, and never runs") {
  held_pool t;
  std::atomic<int> calls{0};
  auto h = spawn(t.lp, count_on, std::ref(t.pool), std::ref(calls));
  t.lp.step();
  CHECK(t.pool.statistics().queued == 1);
  h.cancel();
  CHECK(t.end_of(h) == std::errc::operation_canceled);
  CHECK(t.pool.statistics().queued == 0);
  t.door.open();
  CHECK(t.end_of(t.holder) == std::error_code{});
  CHECK(calls == 0);
}

TEST_CASE("a call that stands in line ends at its deadline") {
  held_pool t;
  auto body = [&]() -> task<std::error_code> {
    auto late = co_await within(1ms, blocking(t.pool, add, 1, 2));
    co_return late ? std::error_code{} : late.error();
  };
  auto h = spawn(t.lp, body);
  CHECK(t.end_of(h) == std::errc::timed_out);
  t.door.open();
  t.lp.run();
}

TEST_CASE("a call that runs is not cancelled: its result counts") {
  held_pool t;
  t.holder.cancel();
  std::thread later([&] { t.door.open(); });
  CHECK(t.end_of(t.holder) == std::error_code{});
  later.join();
}

TEST_CASE("a killed coroutine waits for its call, and unwinds at its next wait") {
  gate door;
  blocking_pool pool({.threads = 1});
  int seen = 0;
  {
    loop lp;
    auto body = [&]() -> task<> {
      auto mine = std::make_unique<int>(5);
      auto done = co_await blocking(pool, [&] {
        door.pass();
        return *mine;
      });
      seen = done.value();
      auto never = co_await blocking(pool, add, 1, 2);
      seen = never.value();
    };
    auto h = spawn(lp, body);
    lp.step();
    door.wait_for(1);
    h.kill();
    std::thread later([&] { door.open(); });
    lp.run();
    later.join();
    CHECK_THROWS_AS(sync_wait(std::move(h)), cancelled);
  }
  CHECK(seen == 5);
  CHECK(pool.statistics().begun == 1);
}

TEST_CASE("a loop that is destroyed waits for the calls that run") {
  gate door;
  blocking_pool pool({.threads = 1});
  std::thread later;
  {
    loop lp;
    spawn(lp, pass_through, std::ref(pool), std::ref(door));
    lp.step();
    door.wait_for(1);
    later = std::thread([&] { door.open(); });
  }
  later.join();
  CHECK(pool.statistics().begun == 1);
}

TEST_CASE("a full line refuses") {
  held_pool t(1);
  std::atomic<int> calls{0};
  auto first = spawn(t.lp, count_on, std::ref(t.pool), std::ref(calls));
  auto second = spawn(t.lp, count_on, std::ref(t.pool), std::ref(calls));
  CHECK(t.end_of(second) == std::errc::resource_unavailable_try_again);
  CHECK(t.pool.statistics().refused == 1);
  t.door.open();
  CHECK(t.end_of(first) == std::error_code{});
  CHECK(calls == 1);
  t.lp.run();
}

TEST_CASE("without a line, calls run as long as there are threads for them") {
  blocking_pool pool({.threads = 2, .queue = 0});
  gate door;
  loop lp;
  auto one = spawn(lp, pass_through, std::ref(pool), std::ref(door));
  auto two = spawn(lp, pass_through, std::ref(pool), std::ref(door));
  auto three = spawn(lp, pass_through, std::ref(pool), std::ref(door));
  lp.run_until(three);
  CHECK(sync_wait(std::move(three)) == std::errc::resource_unavailable_try_again);
  CHECK(pool.statistics().threads == 2);
  door.open();
  lp.run();
}

TEST_CASE("a pool that is destroyed refuses what stands in line, and waits for what runs") {
  gate door;
  loop lp;
  std::atomic<int> calls{0};
  auto pool = std::make_unique<blocking_pool>(blocking_pool_options{.threads = 1});
  auto runs = spawn(lp, pass_through, std::ref(*pool), std::ref(door));
  auto waits = spawn(lp, count_on, std::ref(*pool), std::ref(calls));
  while (lp.step()) {
  }
  door.wait_for(1);
  std::thread ends([&] { pool.reset(); });
  lp.run_until(waits);
  CHECK(sync_wait(std::move(waits)) == std::errc::operation_canceled);
  door.open();
  lp.run_until(runs);
  CHECK(sync_wait(std::move(runs)) == std::error_code{});
  ends.join();
  CHECK(calls == 0);
}

TEST_CASE("threads that have nothing to do end, and others come when they are needed") {
  blocking_pool pool({.threads = 4, .idle = 0s});
  for (int round = 0; round < 20; ++round) {
    CHECK(sync_wait(blocking(pool, add, round, 1)).value() == round + 1);
    while (pool.statistics().threads != 0) std::this_thread::yield();
  }
  CHECK(pool.statistics().begun == 20);
}

TEST_CASE("one thread is enough for calls that come one after the other") {
  blocking_pool pool({.threads = 8});
  for (int i = 0; i < 100; ++i) {
    CHECK(sync_wait(blocking(pool, add, i, 1)).value() == i + 1);
    while (pool.statistics().idle == 0) std::this_thread::yield();
  }
  CHECK(pool.statistics().threads == 1);
}

TEST_CASE("many calls of many workers all come back") {
  constexpr int calls = 2000;
  blocking_pool pool({.threads = 4, .idle = 1ms});
  hocket::runtime rt({.workers = 4});
  auto one = [&](int n) -> task<int> {
    auto got = co_await blocking(pool, add, n, 1);
    co_return got.value();
  };
  auto all = [&]() -> task<long> {
    std::vector<join_handle<int>> handles;
    for (int i = 0; i < calls; ++i) handles.push_back(spawn(one, i));
    long sum = 0;
    for (auto& h : handles) sum += co_await h;
    co_return sum;
  };
  CHECK(sync_wait(spawn(rt, all)) == calls * (calls - 1L) / 2 + calls);
}

TEST_CASE("many calls that are cancelled at any moment run or do not, and are told so") {
  constexpr int calls = 2000;
  blocking_pool pool({.threads = 2});
  std::atomic<int> ran{0};
  int told = 0;
  {
    hocket::runtime rt({.workers = 2});
    std::vector<join_handle<std::error_code>> handles;
    for (int i = 0; i < calls; ++i) {
      handles.push_back(spawn(rt, count_on, std::ref(pool), std::ref(ran)));
      if (i >= 20) handles[static_cast<std::size_t>(i - i % 20)].cancel();
    }
    for (auto& h : handles) {
      const std::error_code end = sync_wait(std::move(h));
      if (!end) ++told;
      else CHECK(end == std::errc::operation_canceled);
    }
  }
  CHECK(told == ran);
}

TEST_CASE("a pool of no thread, or of too many, is refused") {
  CHECK_THROWS_AS(blocking_pool({.threads = 0}), std::system_error);
  CHECK_THROWS_AS(blocking_pool({.threads = blocking_pool::max_threads + 1}), std::system_error);
}

TEST_CASE("a pool that one of its own calls destroys is fatal") {
  expect_fatal(
      [] {
        auto* pool = new blocking_pool;
        static_cast<void>(sync_wait(blocking(*pool, [pool] { delete pool; })));
      },
      "a blocking_pool was destroyed by one of its own calls");
}

TEST_CASE("blocking calls stand in groups") {
  blocking_pool pool;
  auto both = [&]() -> task<int> {
    auto sums = co_await when_all(blocking(pool, add, 1, 2), blocking(pool, add, 3, 4));
    auto [a, b] = sums.value();
    co_return a + b;
  };
  CHECK(sync_wait(both()) == 10);
}

// In a child: its threads are there until the process ends, and this one forks without threads only.
TEST_CASE("the pool of the process is there when it is needed, and does not hold up the end of the process") {
  auto body = [] {
    const int three = sync_wait(blocking(add, 1, 2)).value();
    const bool counted = blocking_pool::process_pool().statistics().begun == 1;
    if (three == 3 && counted) std::exit(3);
  };
  const child_end end = end_of_child(body);
  INFO(end.errors);
  CHECK(end.how == "exit code 3");
}
