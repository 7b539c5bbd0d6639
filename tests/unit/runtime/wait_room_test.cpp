// The room of a wait: one for all that a coroutine waits for, itself and by the tasks that it awaits.
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include "unit/core/script.hpp"

#include "support/detached.hpp"
#include <chrono>
#include <cstdint>

#include <doctest/doctest.h>
#include <set>
#include <utility>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// AddressSanitizer: each wait has a room of its own, so that a use of it after the wait is found.
constexpr bool shares = detail::sanitizer != detail::sanitizer_kind::asan;

// Where the coroutines that are looked at wait. A look comes when nothing else is ready.
struct rooms_seen {
  std::set<const void*> rooms;
  std::vector<detail::strand_state*> watched;

  void watch() { watched.push_back(current_context().coroutine()); }
  void look() {
    for (detail::strand_state* one : watched)
      if (one->waiting_for()) rooms.insert(one->waiting_for());
  }
};

task<int> receive_one(channel<int>& from) { co_return *co_await from.receive(); }

task<void> send_slowly(channel<int>& to, int n, rooms_seen& seen) {
  for (int i = 1; i <= n; ++i) {
    co_await yield();
    co_await yield();
    seen.look();
    CHECK((co_await to.send(i)).has_value());
  }
}

}  // namespace

TEST_CASE("the waits of one expression share a room, although the first awaiter lives on") {
  loop lp;
  channel<int> c(0);
  rooms_seen seen;
  auto sum = spawn(lp, [&]() -> task<int> {
    seen.watch();
    co_return *co_await c.receive() * 10 + *co_await c.receive() + 100 * co_await receive_one(c);
  });
  spawn(lp, send_slowly, std::ref(c), 3, std::ref(seen));
  lp.run();
  CHECK(sync_wait(sum) == 312);
  if (shares) CHECK(seen.rooms.size() == 1);
}

TEST_CASE("a coroutine and the tasks that it awaits wait in one room") {
  loop lp;
  channel<int> c(0);
  rooms_seen seen;
  auto sum = spawn(lp, [&]() -> task<int> {
    seen.watch();
    int all = *co_await c.receive();
    for (int i = 0; i < 3; ++i) all += co_await receive_one(c);
    all += *co_await within(1h, c.receive());
    all += co_await or_throw(c.receive());
    all += co_await then(c.receive(), [](result<int> n) { return *n; });
    co_return all;
  });
  spawn(lp, send_slowly, std::ref(c), 7, std::ref(seen));
  lp.run();
  CHECK(sync_wait(sum) == 28);
  if (shares) CHECK(seen.rooms.size() == 1);
}

TEST_CASE("a coroutine allocates a room once") {
  loop lp;
  channel<int> c(0);
  constexpr int many = 100;
  auto allocated = [] {
    const frame_memory_statistics now = frame_memory_usage();
    return now.hits + now.misses;
  };
  auto receiving = spawn(lp, [&]() -> task<std::uint64_t> {
    int sum = *co_await c.receive() + *co_await c.receive();
    const std::uint64_t before = allocated();
    while (sum < many * (many + 1) / 2) sum += *co_await c.receive();
    co_return allocated() - before;
  });
  rooms_seen unused;
  spawn(lp, send_slowly, std::ref(c), many, std::ref(unused));
  lp.run();
  if (detail::recycles_frames) CHECK(sync_wait(receiving) == 0);
}

TEST_CASE("a wait beside the one that has the coroutine's room has a room of its own") {
  loop lp;
  channel<int> c(0);
  int sum = 0;
  auto beside = [&]() -> detached { sum += co_await receive_one(c); };
  auto body = [&]() -> task<int> {
    beside();
    const int first = *co_await c.receive();
    co_return first * 10 + *co_await c.receive();
  };
  auto both = spawn(lp, body);
  rooms_seen unused;
  spawn(lp, send_slowly, std::ref(c), 3, std::ref(unused));
  lp.run();
  CHECK(sum == 1);
  CHECK(sync_wait(both) == 23);
}

TEST_CASE("the children of a group wait at once, and a select among them") {
  loop lp;
  channel<int> c(0);
  auto_reset_event never;
  auto select_one = [&]() -> task<int> {
    auto got = co_await select(never.wait(), c.receive());
    co_return *got->get<1>();
  };
  auto sum = spawn(lp, [&]() -> task<int> {
    auto [a, b, d, e] = *co_await when_all(receive_one(c), c.receive(), select_one(), receive_one(c));
    co_return a + b + d + e;
  });
  rooms_seen unused;
  spawn(lp, send_slowly, std::ref(c), 4, std::ref(unused));
  lp.run();
  CHECK(sync_wait(sum) == 10);
}

TEST_CASE("a coroutine that is killed while it waits leaves its room, and unwinds without one") {
  loop lp;
  semaphore none(0);
  bool unwound = false;
  auto body = [&]() -> task<void> {
    struct mark {
      bool& set;
      ~mark() { set = true; }
    } at_end{unwound};
    static_cast<void>(co_await none.acquire());
  };
  auto killed = spawn(lp, body);
  spawn(lp, [&]() -> task<void> {
    co_await yield();
    killed.kill();
    static_cast<void>(co_await killed.join());
  });
  lp.run();
  CHECK(unwound);
  CHECK(killed.done());
}

TEST_CASE("a task that is destroyed granted passes the grant on") {
  semaphore one(0);
  auto inner = [&]() -> task<void> {
    static_cast<void>(co_await one.acquire());
    FAIL("it was destroyed");
  };
  auto outer = [&]() -> script { co_await inner(); };
  stepped_executor on;
  auto whole = outer();
  whole.start(on);
  on.run();
  one.release();
  CHECK(one.available() == 0);
  REQUIRE(on.take() != nullptr);
  whole.destroy();
  CHECK(one.available() == 1);
}

TEST_CASE("an operation is moved, and awaited in a task where it was moved to") {
  loop lp;
  semaphore one(1);
  auto done = spawn(lp, [&]() -> task<bool> {
    auto first = one.acquire();
    auto moved = std::move(first);
    auto held = co_await std::move(moved);
    auto late = within(0ms, one.acquire());
    auto refused = co_await std::move(late);
    co_return held.has_value() && !refused.has_value();
  });
  lp.run();
  CHECK(sync_wait(done));
}

TEST_CASE("or_return ends the task from the room of the coroutine") {
  loop lp;
  channel<int> c(0);
  auto inner = [&]() -> task<result<int>> { co_return co_await or_return(c.receive()) + 1; };
  auto both = spawn(lp, [&]() -> task<int> {
    const int first = *co_await inner();
    const result<int> second = co_await inner();
    co_return second ? 0 : first;
  });
  spawn(lp, [&]() -> task<void> {
    CHECK((co_await c.send(6)).has_value());
    co_await yield();
    c.close();
  });
  lp.run();
  CHECK(sync_wait(both) == 7);
}
