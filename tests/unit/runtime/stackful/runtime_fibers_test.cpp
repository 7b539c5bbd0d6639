// Fibers on runtimes of 1 to 8 workers: one may begin on any worker, and stays there.
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/spawn_batch.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t worker_counts[] = {1, 2, 4, 8};

// Through all kinds of waits; whether the thread was the same after each.
bool stays(event& bell, mutex& guard) {
  const auto home = std::this_thread::get_id();
  bool same = true;
  for (int i = 0; i < 20; ++i) {
    await(yield());
    same = same && std::this_thread::get_id() == home;
    {
      auto held = await(guard.lock());
    }
    same = same && std::this_thread::get_id() == home;
    static_cast<void>(await(within(i % 5 == 0 ? 50us : 0us, bell.wait())));
    same = same && std::this_thread::get_id() == home;
  }
  return same;
}

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

}  // namespace

TEST_CASE("a fiber stays on the worker that it began on, whatever it waits for") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    event bell;
    mutex guard;
    hocket::runtime rt({.workers = workers});
    std::vector<join_handle<bool>> all;
    for (int i = 0; i < 40; ++i) all.push_back(spawn(rt, stays, std::ref(bell), std::ref(guard)));
    for (auto& one : all) CHECK(sync_wait(std::move(one)));
  }
}

TEST_CASE("a fiber that has not begun is taken from a worker that is held") {  // FAULT 8
  hocket::runtime rt({.workers = 2});
  std::atomic<int> done{0};
  auto rogue = [&] {
    for (int i = 0; i < 100; ++i) static_cast<void>(spawn([&] { ++done; }));
    while (done.load() < 100) std::this_thread::yield();
  };
  await(spawn(rt, rogue));
  CHECK(done == 100);
}

TEST_CASE("a fiber goes on at home when what it forked has ended elsewhere") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    auto body = [] {
      const auto home = std::this_thread::get_id();
      long sum = 0;
      for (int i = 0; i < 5; ++i) {
        auto [a, b] = await(fork_join(fib(10), fib(11)));
        sum += a + b;
        if (std::this_thread::get_id() != home) return -1L;
      }
      return sum;
    };
    std::vector<join_handle<long>> all;
    for (int i = 0; i < 10; ++i) all.push_back(spawn(rt, body));
    for (auto& one : all) CHECK(await(std::move(one)) == 5 * (55 + 89));
  }
}

// Where there are several workers each of the two holds its own until the other has begun.
TEST_CASE("two fibers pass a token to each other, of one worker and of different ones") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    auto_reset_event mine, theirs;
    int passed = 0;
    std::atomic<int> begun{0};
    hocket::runtime rt({.workers = workers});
    auto meet = [&] {
      ++begun;
      while (workers > 1 && begun < 2) std::this_thread::yield();
      return std::this_thread::get_id();
    };
    auto first = [&] {
      const auto worker = meet();
      for (int i = 0; i < 500; ++i) {
        theirs.set();
        static_cast<void>(await(mine.wait()));
        ++passed;
      }
      return worker;
    };
    auto second = [&] {
      const auto worker = meet();
      for (int i = 0; i < 500; ++i) {
        static_cast<void>(await(theirs.wait()));
        ++passed;
        mine.set();
      }
      return worker;
    };
    auto a = spawn(rt, first), b = spawn(rt, second);
    const auto one = await(std::move(a)), other = await(std::move(b));
    CHECK(passed == 1000);
    CHECK((one != other) == (workers > 1 || detail::machine::fibers_are_threads));
  }
}

TEST_CASE("a worker with nothing but fibers of others does not look for them for ever") {  // FAULT 6
  hocket::runtime rt({.workers = 2});
  std::atomic<bool> go_on{true};
  auto busy = [&] {
    while (go_on.load()) await(yield());
    return std::this_thread::get_id();
  };
  std::vector<join_handle<std::thread::id>> all;
  for (int i = 0; i < 20; ++i) all.push_back(spawn(rt, busy));
  for (int i = 0; i < 100; ++i) CHECK(await(spawn(rt, [i] { return i; })) == i);
  go_on = false;
  for (auto& one : all) static_cast<void>(await(std::move(one)));
}

TEST_CASE("fibers begin in batches, from outside and from fibers") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    std::atomic<int> done{0};
    auto leaf = [&] {
      await(yield());
      ++done;
    };
    auto inner = [&] {
      scope all;
      spawn_batch batch(all);
      for (int i = 0; i < 100; ++i) spawn(batch, leaf);
    };
    std::vector<join_handle<>> outer;
    {
      spawn_batch batch(rt);
      for (int i = 0; i < 5; ++i) outer.push_back(spawn(batch, inner));
    }
    for (auto& one : outer) sync_wait(std::move(one));
    CHECK(done == 500);
  }
}

TEST_CASE("a fiber in a batch that is refused gives up its callable, and takes no stack") {
  hocket::runtime rt({.workers = 1});
  static_cast<void>(rt.shutdown());
  auto told = std::make_shared<int>(0);
  spawn_batch batch(rt);
  auto handle = spawn(batch, [told] { ++*told; });
  CHECK(told.use_count() == 2);
  batch.flush();
  CHECK(told.use_count() == 1);
  CHECK(*told == 0);
  CHECK_THROWS_AS(sync_wait(std::move(handle)), cancelled);
}

TEST_CASE("a runtime that is destroyed unwinds its fibers on their workers") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    std::atomic<int> unwound{0};
    std::atomic<int> elsewhere{0};
    std::atomic<int> begun{0};
    event never;
    {
      hocket::runtime rt({.workers = workers});
      struct witness {
        std::atomic<int>&unwound, &elsewhere;
        std::thread::id home = std::this_thread::get_id();
        ~witness() {
          ++unwound;
          if (std::this_thread::get_id() != home) ++elsewhere;
        }
      };
      auto waits = [&] {
        witness local{unwound, elsewhere};
        ++begun;
        static_cast<void>(await(never.wait()));
      };
      for (int i = 0; i < 30; ++i) static_cast<void>(spawn(rt, waits));
      while (begun.load() < 30) std::this_thread::yield();
    }
    CHECK(unwound == 30);
    CHECK(elsewhere == 0);
  }
}

TEST_CASE("what a fiber has spent of its worker's turn are no resumes") {
  hocket::runtime rt({.workers = 1});
  sync_wait(spawn(rt, [] {
    for (int i = 0; i < 1000; ++i) {
      detail::spend_turn(63);
      await(yield());
    }
  }));
  CHECK(rt.counts().resumed >= 1000);
  CHECK(rt.counts().resumed <= 1002);
}
