// Fibers that are spawned as migratable continue on any worker that takes them, with all their state.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/fiber_local.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/sync/mutex.hpp>

#include "support/death.hpp"

#include <atomic>
#include <cfenv>
#include <doctest/doctest.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// The worker, whatever a fiber is made of.
const void* this_worker() noexcept { return &detail::this_thread(); }

// Two workers, of which one can be held from outside while the other one runs what is ready.
class two_workers {
 public:
  auto_reset_event bell;

  // Called by the only fiber that waits at the bell, by `wait`: it waits until a coroutine on the other worker has set
  // the bell. If it `moves`, its own worker is held until it has continued.
  template <class Wait>
  void wait_for_other(bool moves, Wait wait) {
    const int before = rung_.load();
    const void* const home = this_worker();
    for (int i = 0; i < 2; ++i) {
      auto one = [this, before, home, moves] {
        ++come_;
        while (come_.load() < 2 * (before + 1)) std::this_thread::yield();  // one on each worker
        if (this_worker() != home) return bell.set();
        while (moves && rung_.load() == before) std::this_thread::yield();
      };
      static_cast<void>(spawn(rt, one));
    }
    wait();
    ++rung_;
  }
  void wait_for_other(bool moves) {
    wait_for_other(moves, [this] { await(or_throw(bell.wait())); });
  }

  // Returns whether it has continued on another worker.
  template <class Wait>
  bool move(Wait wait) {
    const void* const home = this_worker();
    wait_for_other(true, wait);
    return this_worker() != home;
  }
  bool move() {
    return move([this] { await(or_throw(bell.wait())); });
  }
  task<> hear() { co_await or_throw(bell.wait()); }

 private:
  std::atomic<int> come_{0}, rung_{0};

 public:
  hocket::runtime rt{{.workers = 2}};  // the last: who rings may still be at it when the fiber has ended
};

constexpr spawn_options moving{.migratable = true};

}  // namespace

TEST_CASE("a migratable fiber goes on at the worker that takes it") {
  two_workers on;
  int moved = 0;
  sync_wait(spawn(on.rt, moving, [&] {
    for (int i = 0; i < 10; ++i) moved += on.move() ? 1 : 0;
  }));
  CHECK(moved == 10);
}

TEST_CASE("a migratable fiber goes on where the task that it awaits has ended") {
  two_workers on;
  int moved = 0;
  sync_wait(spawn(on.rt, moving, [&] {
    for (int i = 0; i < 10; ++i) moved += on.move([&] { await(on.hear()); }) ? 1 : 0;
  }));
  CHECK(moved == 10);
}

// The first child stays on the fiber's worker, which is held when it has ended; the second one ends on the other.
TEST_CASE("a migratable fiber goes on where the last of its forks has ended") {
  std::atomic<bool> begun{false}, held{false}, gone_on{false};
  hocket::runtime rt({.workers = 2});
  auto hold = [&] {
    held = true;
    while (!gone_on.load()) std::this_thread::yield();
  };
  auto first = [&]() -> task<int> {
    while (!begun.load()) std::this_thread::yield();
    static_cast<void>(spawn(rt, hold));
    co_return 1;
  };
  auto second = [&]() -> task<int> {
    begun = true;
    while (!held.load()) std::this_thread::yield();
    co_return 2;
  };
  const bool moved = sync_wait(spawn(rt, moving, [&] {
    const void* const home = this_worker();
    auto [one, two] = await(fork_join(first(), second()));
    gone_on = true;
    return one + two == 3 && this_worker() != home;
  }));
  CHECK(moved);
}

TEST_CASE("the exceptions that a fiber handles and throws move with it") {
  two_workers on;
  std::string handled, rethrown;
  int in_flight = -1;
  struct moves_when_unwound {
    two_workers& on;
    int& in_flight;
    ~moves_when_unwound() {
      if (on.move()) in_flight = std::uncaught_exceptions();
    }
  };
  sync_wait(spawn(on.rt, moving, [&] {
    try {
      throw std::runtime_error("outer");
    } catch (const std::runtime_error&) {
      try {
        moves_when_unwound local{on, in_flight};
        throw std::logic_error("inner");
      } catch (const std::logic_error& error) {
        on.move();
        handled = error.what();
      }
      on.move();
      try {
        throw;
      } catch (const std::runtime_error& error) {
        rethrown = error.what();
      }
    }
  }));
  CHECK(in_flight == 1);
  CHECK(handled == "inner");
  CHECK(rethrown == "outer");
}

TEST_CASE("its fiber-locals and its floating-point environment move with a fiber") {
  two_workers on;
  static fiber_local<int> own;
  bool same = true;
  auto body = [&] {
    *own = 7;
    std::fesetround(FE_UPWARD);
    for (int i = 0; i < 4; ++i) {
      same = on.move() && same;
      same = same && *own == 7 && std::fegetround() == FE_UPWARD;
    }
  };
  sync_wait(spawn(on.rt, {.own_floating_point = true, .migratable = true}, body));
  CHECK(same);
}

TEST_CASE("a fiber that is killed where it has moved to is unwound") {
  event never;
  std::atomic<bool> waits{false}, unwound{false};
  two_workers on;
  auto body = [&] {
    struct witness {
      std::atomic<bool>& unwound;
      ~witness() { unwound = true; }
    } local{unwound};
    on.move();
    waits = true;
    static_cast<void>(await(never.wait()));
  };
  auto fiber = spawn(on.rt, moving, body);
  while (!waits.load()) std::this_thread::yield();
  fiber.kill();
  CHECK_THROWS_AS(sync_wait(std::move(fiber)), cancelled);
  CHECK(unwound);
}

TEST_CASE("a migratable fiber stays where it is in a call on the thread's big stack, and moves again after it") {
  two_workers on;
  int stayed = 0;
  bool moved = false;
  sync_wait(spawn(on.rt, moving, [&] {
    call_on_big_stack([&] {
      for (int i = 0; i < 10; ++i) {
        const void* const home = this_worker();
        call_on_big_stack([] { await(yield()); });
        on.wait_for_other(false);
        stayed += this_worker() == home ? 1 : 0;
      }
    });
    moved = on.move();
  }));
  CHECK(stayed == 10);
  CHECK(moved);
}

TEST_CASE("what a migratable fiber owns stays whole among many workers") {
  constexpr int fibers = 40, rounds = 100;
  for (const std::size_t workers : {1u, 2u, 4u, 8u}) {
    CAPTURE(workers);
    channel<int> items(8);
    monitor guard;
    long sent = 0, received = 0;  // guarded
    {
      hocket::runtime rt({.workers = workers});
      auto give = [&](int me) {
        for (int i = 0; i < rounds; ++i) {
          await(or_throw(items.send(me)));
          auto in = await(or_throw(guard.enter()));
          await(yield());
          sent += me;
        }
      };
      auto take = [&] {
        for (int i = 0; i < rounds; ++i) {
          const int item = await(or_throw(items.receive()));
          auto in = await(or_throw(guard.enter()));
          auto again = guard.try_enter();
          received += again ? item : 0;
        }
      };
      std::vector<join_handle<>> all;
      for (int i = 0; i < fibers; ++i) {
        all.push_back(spawn(rt, moving, give, i));
        all.push_back(spawn(rt, moving, take));
      }
      for (auto& one : all) sync_wait(std::move(one));
    }
    CHECK(sent == rounds * fibers * (fibers - 1) / 2);
    CHECK(received == sent);
  }
}

TEST_CASE("on a loop a migratable fiber is like any other") {
  loop on;
  int rounds = 0;
  spawn(on, moving, [&] {
    for (; rounds < 10; ++rounds) await(yield());
  });
  on.run();
  CHECK(rounds == 10);
}

TEST_CASE("a migratable fiber on a stack that belongs to a thread is fatal, by name") {
  for (const spawn_options& wrong : {spawn_options{.name = "rooted", .stack = stack_kind::dense, .migratable = true},
                                     spawn_options{.name = "rooted", .stack = stack_kind::copied, .migratable = true},
                                     spawn_options{.name = "rooted", .hibernate_after = 1s, .migratable = true}}) {
    auto spawn_it = [&] {
      loop on;
      spawn(on, wrong, [] {});
    };
    expect_fatal(spawn_it, "[coroutine rooted]");
  }
}
