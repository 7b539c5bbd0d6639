// Many spawns that are handed over together: on loops and runtimes, from threads and from coroutines. Fibers are in
// stackful/runtime_fibers_test.cpp, races in tests/stress/runtime_batches.cpp.
#include <hocket/core/spawn_batch.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t worker_counts[] = {1, 2, 8};
constexpr int many = 3 * static_cast<int>(spawn_batch::capacity) + 7;

task<int> twice(int n) {
  co_await yield();
  co_return 2 * n;
}

task<> count_up(std::atomic<int>& done) {
  ++done;
  co_return;
}

task<> note(std::vector<int>& order, int what) {
  order.push_back(what);
  co_return;
}

// Throws when it is copied for the third time.
struct seldom_copied {
  int* copies;
  explicit seldom_copied(int& count) noexcept : copies(&count) {}
  seldom_copied(const seldom_copied& other) : copies(other.copies) {
    if (++*copies == 3) throw std::runtime_error("copied too often");
  }
  seldom_copied(seldom_copied&&) noexcept = default;
};

// Sets a flag when it is destroyed.
struct witness {
  bool* gone;
  explicit witness(bool& flag) noexcept : gone(&flag) {}
  witness(witness&& other) noexcept : gone(std::exchange(other.gone, nullptr)) {}
  ~witness() {
    if (gone) *gone = true;
  }
};

}  // namespace

TEST_CASE("what is spawned in a batch begins when the batch is flushed, in its order") {
  loop lp;
  std::vector<int> order;
  {
    spawn_batch batch(lp);
    auto first = spawn(batch, note, std::ref(order), 1);
    spawn(batch, {.name = "second"}, note, std::ref(order), 2);
    CHECK(batch.size() == 2);
    CHECK(lp.live() == 0);
    lp.run();
    CHECK(order.empty());
    batch.flush();
    CHECK(batch.size() == 0);
    CHECK(lp.live() == 2);
    CHECK_FALSE(first.done());
    lp.run();
    CHECK(order == std::vector{1, 2});
    CHECK(first.done());
    spawn(batch, note, std::ref(order), 3);
  }
  lp.run();
  CHECK(order == std::vector{1, 2, 3});
}

TEST_CASE("a batch flushes itself when it is full") {
  loop lp;
  std::vector<int> order;
  spawn_batch batch(lp);
  for (int i = 0; i < many; ++i) spawn(batch, note, std::ref(order), i);
  CHECK(batch.size() == 7);
  CHECK(lp.live() == static_cast<std::size_t>(many - 7));
  batch.flush();
  lp.run();
  REQUIRE(order.size() == static_cast<std::size_t>(many));
  for (int i = 0; i < many; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a batch from another thread wakes the loop, and keeps its order") {
  loop lp;
  std::vector<int> order;
  auto last = [&]() -> task<> {
    lp.stop();
    co_return;
  };
  std::thread poster([&] {
    spawn_batch batch(lp);
    for (int i = 0; i < 20; ++i) spawn(batch, note, std::ref(order), i);
    spawn(batch, last);
  });
  lp.run_for(std::chrono::hours(1));
  poster.join();
  REQUIRE(order.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("everything in a batch on a runtime runs and gives its result, from outside and from its workers") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    std::vector<join_handle<int>> all;
    {
      spawn_batch batch(rt);
      for (int i = 0; i < many; ++i) all.push_back(spawn(batch, twice, i));
    }
    for (int i = 0; i < many; ++i) CHECK(sync_wait(all[static_cast<std::size_t>(i)]) == 2 * i);
    auto inside = []() -> task<long> {
      std::vector<join_handle<int>> children;
      {
        spawn_batch batch;
        for (int i = 0; i < many; ++i) children.push_back(spawn(batch, twice, i));
      }
      long sum = 0;
      for (auto& one : children) sum += co_await one;
      co_return sum;
    };
    CHECK(sync_wait(spawn(rt, inside)) == long{many} * (many - 1));
    while (rt.live() != 0) std::this_thread::yield();
  }
}

TEST_CASE("a worker that holds a batch of one runtime flushes it to another") {
  hocket::runtime one({.workers = 1}), other({.workers = 2});
  std::atomic<int> done{0};
  auto across = [&]() -> task<> {
    spawn_batch batch(other);
    for (int i = 0; i < many; ++i) spawn(batch, count_up, std::ref(done));
    co_await yield();
  };
  sync_wait(spawn(one, across));
  while (other.live() != 0) std::this_thread::yield();
  CHECK(done == many);
}

TEST_CASE("one after the other: a runtime that sleeps is woken by each batch") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    spawn_batch batch(rt);
    for (int i = 0; i < 300; ++i) {
      auto one = spawn(batch, twice, i);
      auto two = spawn(batch, twice, i + 1);
      batch.flush();
      REQUIRE(sync_wait(std::move(one)) == 2 * i);
      REQUIRE(sync_wait(std::move(two)) == 2 * i + 2);
    }
  }
}

TEST_CASE("a scope joins what its batch has handed over") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    std::atomic<int> done{0};
    auto parent = [&]() -> task<int> {
      auto body = [&](scope& all) -> task<> {
        spawn_batch batch(all);
        for (int i = 0; i < many; ++i) spawn(batch, count_up, std::ref(done));
        co_return;
      };
      co_await in_scope(body);
      co_return done.load();
    };
    CHECK(sync_wait(spawn(rt, parent)) == many);
  }
}

TEST_CASE("what cannot be spawned leaves the others in the batch") {
  loop lp;
  int copies = 0, ran = 0;
  const seldom_copied what(copies);
  auto run = [&ran](const seldom_copied&) -> task<> {
    ++ran;
    co_return;
  };
  auto spawn_four = [&] {
    spawn_batch batch(lp);
    for (int i = 0; i < 4; ++i) spawn(batch, run, what);
  };
  CHECK_THROWS_AS(spawn_four(), std::runtime_error);
  lp.run();
  CHECK(ran == 2);
}

TEST_CASE("a batch that is refused tells each handle, and gives up the callables") {
  hocket::runtime rt({.workers = 2});
  static_cast<void>(rt.shutdown());
  bool kept_gone = false, dropped_gone = false, awaited_gone = false;
  auto with = [](const witness&) -> task<int> { co_return 1; };
  std::error_code awaited;
  spawn_batch batch(rt);
  auto kept = spawn(batch, with, witness(kept_gone));
  static_cast<void>(spawn(batch, with, witness(dropped_gone)));
  auto early = spawn(batch, with, witness(awaited_gone));
  CHECK_FALSE(kept.done());
  CHECK_FALSE(dropped_gone);
  std::thread other([&] {
    auto got = sync_wait(early.join());
    awaited = got.error();
  });
  batch.flush();
  other.join();
  CHECK(kept.done());
  CHECK(kept_gone);
  CHECK(dropped_gone);
  CHECK(awaited_gone);
  CHECK(awaited == std::errc::operation_canceled);
  auto got = sync_wait(kept.join());
  CHECK(got.error() == std::errc::operation_canceled);
  CHECK(rt.live() == 0);
}

TEST_CASE("what is refused may spawn in its batch as it ends: that is refused, too, and no other is lost") {
  struct spawner {
    spawn_batch* batch;
    std::vector<join_handle<int>>* handles;
    explicit spawner(spawn_batch& in, std::vector<join_handle<int>>& all) noexcept : batch(&in), handles(&all) {}
    spawner(spawner&& other) noexcept : batch(std::exchange(other.batch, nullptr)), handles(other.handles) {}
    ~spawner() {
      if (!batch) return;
      for (int i = 0; i < 3; ++i) handles->push_back(spawn(*batch, twice, i));
    }
  };
  hocket::runtime rt({.workers = 1});
  static_cast<void>(rt.shutdown());
  std::vector<join_handle<int>> handles;
  {
    spawn_batch batch(rt);
    for (int i = 0; i < 5; ++i)
      handles.push_back(spawn(batch, [](const spawner&) -> task<int> { co_return 1; }, spawner(batch, handles)));
  }
  CHECK(handles.size() == 20);
  for (auto& one : handles) {
    CHECK(one.done());
    auto got = sync_wait(one.join());
    CHECK(got.error() == std::errc::operation_canceled);
  }
}

TEST_CASE("what is cancelled or killed in a batch is so when it begins") {
  loop lp;
  event never;
  bool gone = false, began = false;
  std::error_code ended;
  auto wait = [&]() -> task<> {
    auto got = co_await never.wait();
    ended = got.error();
  };
  auto with = [&](const witness&) -> task<> {
    began = true;
    co_return;
  };
  spawn_batch batch(lp);
  auto cancelled_one = spawn(batch, wait), killed_one = spawn(batch, with, witness(gone));
  cancelled_one.cancel();
  killed_one.kill();
  CHECK_FALSE(killed_one.done());
  batch.flush();
  lp.run();
  CHECK(ended == std::errc::operation_canceled);
  CHECK(gone);
  CHECK_FALSE(began);
  CHECK_THROWS_AS(sync_wait(killed_one), hocket::cancelled);
}

TEST_CASE("a coroutine that is unwound flushes its batch") {
  loop lp;
  event never;
  std::vector<int> order;
  auto holder = [&]() -> task<> {
    spawn_batch batch;
    spawn(batch, note, std::ref(order), 1);
    [[maybe_unused]] auto got = co_await never.wait();
  };
  auto handle = spawn(lp, holder);
  lp.step();
  handle.kill();
  lp.run();
  CHECK(order == std::vector{1});
}

TEST_CASE("another thread may await what is flushed later") {
  hocket::runtime rt({.workers = 1});
  spawn_batch batch(rt);
  auto handle = spawn(batch, twice, 21);
  std::atomic<bool> begun{false};
  int got = 0;
  std::thread other([&] {
    begun = true;
    got = sync_wait(std::move(handle));
  });
  while (!begun) std::this_thread::yield();
  batch.flush();
  other.join();
  CHECK(got == 42);
}

TEST_CASE("whoever awaits what stands in his own batch is told so") {
  if (!detail::debug_checks) return;
  expect_fatal(
      [] {
        hocket::runtime rt({.workers = 1});
        spawn_batch batch(rt);
        auto handle = spawn(batch, twice, 1);
        sync_wait(std::move(handle));
      },
      "awaited by the code that has it in a spawn_batch");
  expect_fatal(
      [] {
        loop lp;
        auto body = []() -> task<> {
          spawn_batch batch;
          auto handle = spawn(batch, twice, 1);
          co_await handle;
        };
        spawn(lp, body);
        lp.run();
      },
      "awaited by the code that has it in a spawn_batch");
}
