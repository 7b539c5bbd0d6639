// Depots: size classes, sharing, limits and waiting, decay. Time is a clock that the test moves.
#include <hocket/base/clock.hpp>
#include <hocket/stack/stack_pool.hpp>

#include "stack/memory.hpp"
#include "support/death.hpp"

#include "unit/stack/many.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <random>
#include <set>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// Writes to the first page that each uses.
void touch(const std::vector<stack_ref>& stacks) {
  for (const stack_ref& stack : stacks) stack.top[-1] = std::byte{1};
}

struct line_end : detail::stack_waiter {
  line_end() : detail::stack_waiter(&line_end::on_stack) {}
  static void on_stack(detail::stack_waiter& self, const stack_ref& stack) noexcept {
    auto& one = static_cast<line_end&>(self);
    one.stack = stack;
    ++one.woken;
  }
  stack_ref stack{};
  int woken = 0;
};

using enlisting = stack_depot::enlisting;

}  // namespace

TEST_CASE("sizes are rounded up to powers of two") {
  CHECK(stack_depot::class_of(1) == 0);
  CHECK(stack_depot::class_of(4096) == 0);
  CHECK(stack_depot::class_of(4097) == 1);
  CHECK(stack_depot::class_of(65536) == 4);
  CHECK(stack_depot::class_of(65537) == 5);
  CHECK(stack_depot::class_of(stack_depot::maximum_size) == stack_depot::classes - 1);
  CHECK(&stack_depot::shared() == &stack_depot::shared(65536));
  CHECK(&stack_depot::shared(40000) == &stack_depot::shared(65536));
  CHECK(&stack_depot::shared(30000) != &stack_depot::shared(65536));
  CHECK(stack_depot::shared_if_any(4) == &stack_depot::shared());
  CHECK_THROWS_AS(stack_depot::shared(stack_depot::maximum_size + 1), std::system_error);
  CHECK_THROWS_AS(stack_depot({.stack_size = 0}), std::system_error);
}

TEST_CASE("a cell has the neighbours of its slab, and none beyond its ends") {
  stack_depot depot({.stack_size = 4096});
  stack_pool pool(depot);
  std::vector<stack_ref> stacks = acquire(pool, 16);  // the first slab, in order
  void* first = stacks.front().cell;
  void* last = stacks.back().cell;
  CHECK(stack_depot::neighbour_of(first, 1) == stacks[1].cell);
  CHECK(stack_depot::neighbour_of(first, 15) == last);
  CHECK(stack_depot::neighbour_of(last, -8) == stacks[7].cell);
  CHECK(stack_depot::neighbour_of(first, -1) == nullptr);
  CHECK(stack_depot::neighbour_of(first, 16) == nullptr);
  CHECK(stack_depot::neighbour_of(last, 1) == nullptr);
  CHECK(stack_depot::neighbour_of(last, -16) == nullptr);
  release(pool, stacks);
}

TEST_CASE("a stack may come back on another pool of its depot; nothing is lost on the way") {
  stack_depot depot({.stack_size = 4096, .protection = guard::canary});
  std::set<void*> first;
  {
    stack_pool one(depot), other(depot);
    auto stacks = acquire(one, 3000);  // several magazines
    for (const stack_ref& stack : stacks) first.insert(stack.cell);
    CHECK(first.size() == 3000);
    release(other, stacks);
    CHECK(one.statistics().live == 3000);
    CHECK(other.statistics().live == -3000);
  }
  CHECK(depot.statistics().in_use == 0);
  CHECK(depot.statistics().warm == 3000);
  stack_pool third(depot);
  auto again = acquire(third, 3000);
  std::set<void*> second;
  for (const stack_ref& stack : again) second.insert(stack.cell);
  CHECK(first == second);
  CHECK(third.statistics().fresh == 0);
  release(third, again);
}

TEST_CASE("without a pool, stacks come and go one by one") {
  stack_depot depot({.stack_size = 16384, .limit = 1});
  stack_ref stack = depot.acquire().value();
  std::memset(stack.low, 1, stack.size());
  CHECK(depot.acquire().error() == std::errc::resource_unavailable_try_again);
  depot.release(stack);
  CHECK(depot.acquire().value().cell == stack.cell);
  CHECK(depot.statistics().refusals == 1);
  depot.release(stack);
}

// --- limits

TEST_CASE("limits: the lower one of stacks and bytes; they can be moved") {
  stack_pool pool({.stack_size = 16384, .limit = 100, .limit_bytes = 3 * 16384});
  auto stacks = acquire(pool, 3);
  CHECK(pool.acquire().error() == std::errc::resource_unavailable_try_again);
  pool.depot().tune({.limit = 4});
  stacks.push_back(pool.acquire().value());
  CHECK_FALSE(pool.acquire());
  pool.depot().tune({.limit = 2});
  release(pool, stacks);
  stacks = acquire(pool, 2);
  CHECK_FALSE(pool.acquire());
  pool.depot().tune({});
  stacks.push_back(pool.acquire().value());
  release(pool, stacks);
  CHECK(pool.options().stack_size == 16384);
}

TEST_CASE("where several pools share a small limit, none keeps stacks from the others") {
  stack_depot depot({.stack_size = 16384, .limit = 10});
  stack_pool one(depot), other(depot);
  auto stacks = acquire(one, 10);
  CHECK_FALSE(other.acquire());
  release(one, stacks);
  stacks = acquire(other, 10);
  CHECK_FALSE(one.acquire());
  release(other, stacks);
  CHECK(depot.statistics().in_use == 0);
}

// --- waiting

TEST_CASE("who waits is served first come, first served, by what comes back on any pool") {
  stack_depot depot({.stack_size = 16384, .limit = 2, .when_full = at_limit::wait});
  CHECK(depot.may_wait());
  stack_pool one(depot), other(depot);
  stack_ref a = one.acquire().value(), b = other.acquire().value();
  line_end first, second;
  CHECK(depot.wait(first).kind == enlisting::waits);
  CHECK(depot.wait(second).kind == enlisting::waits);
  CHECK(depot.statistics().waiting == 2);
  one.release(a);
  CHECK(first.woken == 1);
  CHECK(first.stack.cell == a.cell);
  CHECK(second.woken == 0);
  other.release(b);
  CHECK(second.stack.cell == b.cell);
  CHECK_FALSE(depot.withdraw(second));
  depot.release(first.stack);
  depot.release(second.stack);
  CHECK(depot.statistics().in_use == 0);
  CHECK(depot.statistics().waits == 2);
}

TEST_CASE("who is served at once stands in no line, who withdraws is not woken") {
  stack_depot depot({.stack_size = 16384, .limit = 1, .when_full = at_limit::wait});
  line_end first, second, third;
  auto answer = depot.wait(first);
  REQUIRE(answer.kind == enlisting::served);
  CHECK(first.woken == 0);
  CHECK(depot.wait(second).kind == enlisting::waits);
  CHECK(depot.wait(third).kind == enlisting::waits);
  CHECK(depot.withdraw(second));
  CHECK_FALSE(depot.withdraw(second));
  depot.release(answer.stack);
  CHECK(second.woken == 0);
  CHECK(third.woken == 1);
  depot.release(third.stack);
}

TEST_CASE("a higher limit serves those who wait") {
  stack_depot depot({.stack_size = 16384, .limit = 1, .when_full = at_limit::wait});
  stack_pool pool(depot);
  auto stacks = acquire(pool, 1);
  line_end waiters[3];
  for (line_end& one : waiters) CHECK(depot.wait(one).kind == enlisting::waits);
  depot.tune({.limit = 3, .when_full = at_limit::wait});
  CHECK(waiters[0].woken + waiters[1].woken + waiters[2].woken == 2);
  CHECK(waiters[2].woken == 0);
  release(pool, stacks);
  CHECK(waiters[2].woken == 1);
  for (line_end& one : waiters) depot.release(one.stack);
}

TEST_CASE("what a pool keeps free goes to those who wait when its thread is about to sleep") {
  manual_clock time;
  stack_depot depot({.stack_size = 16384, .limit = 2000, .when_full = at_limit::wait, .clock = &time});
  stack_pool idle(depot), busy(depot);
  release(idle, acquire(idle, 200));  // kept: the limit is far
  std::vector<stack_ref> stacks;
  for (;;) {
    auto stack = busy.acquire();
    if (!stack) break;
    stacks.push_back(*stack);
  }
  CHECK(stacks.size() < 2000);
  line_end waiter;
  CHECK(depot.wait(waiter).kind == enlisting::waits);
  static_cast<void>(idle.maintain());
  CHECK(waiter.woken == 1);
  depot.release(waiter.stack);
  release(busy, stacks);
}

TEST_CASE("a pool counts a change when it keeps what no look has seen, and when others are short") {
  manual_clock time;
  stack_depot depot({.stack_size = 16384, .limit = 2000, .when_full = at_limit::wait, .clock = &time});
  stack_pool idle(depot), busy(depot);
  const std::size_t at_first = idle.change_count();
  release(idle, acquire(idle, 200));
  CHECK(idle.change_count() != at_first);
  static_cast<void>(idle.maintain());
  const std::size_t quiet = idle.change_count();
  release(idle, acquire(idle, 10));
  CHECK(idle.change_count() == quiet);
  std::vector<stack_ref> stacks;
  while (auto stack = busy.acquire()) stacks.push_back(*stack);
  CHECK(idle.change_count() != quiet);
  line_end waiter;
  CHECK(depot.wait(waiter).kind == enlisting::waits);
  idle.share();
  CHECK(waiter.woken == 1);
  depot.release(waiter.stack);
  release(busy, stacks);
}

// --- decay

TEST_CASE("a burst is given back when it was not needed for a period, but for what shall be kept") {
  manual_clock time;
  // More than can have guards if the guards are not markers.
  stack_depot depot({.stack_size = 16384, .protection = guard::preferred, .keep = 10, .decay = 1s, .clock = &time});
  stack_pool pool(depot);
  auto stacks = acquire(pool, 20000);
  touch(stacks);
  const std::size_t burst = depot.statistics().committed;
  CHECK(burst >= 20000 * 4096);
  std::shuffle(stacks.begin(), stacks.end(), std::mt19937(1));
  release(pool, stacks);
  CHECK(pool.maintain() <= 1s);
  duration due = 0s;
  for (int i = 0; i < 100 && due != duration::max(); ++i) {
    time.advance(due);
    due = pool.maintain();
  }
  CHECK(due == duration::max());  // nothing more to come
  CHECK(time.now().time_since_epoch() <= 4s);
  const depot_statistics after = depot.statistics();
  CHECK(after.in_use == 0);
  CHECK(after.warm == 10);
  CHECK(after.dirty == 0);
  CHECK(after.trimmed == 20000 - 10);
  CHECK(after.slabs == 1);  // the warm stacks are neighbours
  CHECK(after.committed < burst / 100);
  stacks = acquire(pool, 100);
  CHECK(pool.statistics().warm == 10);
  for (const stack_ref& stack : stacks) std::memset(stack.low, 1, stack.size());
  release(pool, stacks);
}

TEST_CASE("what decay leaves warm: so many stacks, or so many bytes of them if that is more") {
  manual_clock time;
  auto left_by = [&](std::size_t keep, std::size_t keep_bytes) {
    stack_pool pool({.stack_size = 16384, .keep = keep, .keep_bytes = keep_bytes, .decay = 1s, .clock = &time});
    release(pool, acquire(pool, 1000));
    for (int i = 0; i < 10; ++i, time.advance(1s)) static_cast<void>(pool.maintain());
    return pool.depot().statistics().warm;
  };
  CHECK(left_by(3, 10 * 16384) == 10);
  CHECK(left_by(20, 10 * 16384) == 20);
  CHECK(left_by(0, 10 * 16384 - 1) == 9);  // whole ones
  CHECK(left_by(0, 0) == 0);
}

TEST_CASE("what is needed now and then within a period stays warm") {
  manual_clock time;
  stack_depot depot({.stack_size = 16384, .keep = 0, .decay = 1s, .clock = &time});
  stack_pool pool(depot);
  for (int i = 0; i < 20; ++i) {
    auto stacks = acquire(pool, 2000);
    release(pool, stacks);
    time.advance(400ms);
    static_cast<void>(pool.maintain());
  }
  CHECK(pool.statistics().fresh == 2000);
}

TEST_CASE("an idle pool gives up what it kept, and so does decay that is asked for too late") {
  manual_clock time;
  stack_depot depot({.stack_size = 16384, .keep = 0, .decay = 1s, .clock = &time});
  stack_pool pool(depot);
  release(pool, acquire(pool, 5));
  for (int i = 0; i < 4; ++i) {
    time.advance(1h);
    static_cast<void>(pool.maintain());
  }
  CHECK(depot.statistics().slabs == 0);
  CHECK(depot.statistics().reserved == 0);
}

TEST_CASE("no decay, and trim() at once") {
  manual_clock time;
  stack_pool pool({.stack_size = 16384, .decay = duration::max(), .clock = &time});
  auto stacks = acquire(pool, 1000);
  touch(stacks);
  const std::vector<stack_ref> kept(stacks.begin(), stacks.begin() + 2);
  release(pool, {stacks.begin() + 2, stacks.end()});
  time.advance(1h);
  CHECK(pool.maintain() == duration::max());
  CHECK(pool.depot().statistics().trimmed == 0);
  CHECK(pool.trim() == 998);
  const depot_statistics after = pool.depot().statistics();
  CHECK(after.in_use == 2);
  CHECK(after.warm == 0);
  CHECK(after.slabs == 1);
  CHECK(kept[0].top[-1] == std::byte{1});  // what is in use is not touched
  CHECK(kept[1].top[-1] == std::byte{1});
  auto again = acquire(pool, 14);
  for (const stack_ref& stack : again) CHECK(stack.top[-1] == std::byte{0});
  release(pool, again);
  release(pool, kept);
}

TEST_CASE("guards outlive the pages that are given back") {
  stack_pool pool({.stack_size = 16384});
  auto stacks = acquire(pool, 2);
  pool.release(stacks[1]);
  pool.trim();
  stack_ref again = pool.acquire().value();
  CHECK(again.cell == stacks[1].cell);
  CHECK_FALSE(again.canary);
  CHECK(detail::resident_bytes({again.low, 16384}) == 0);
  hocket_test::child_end end = hocket_test::run_in_child(
      [](void* at) {
        std::signal(SIGSEGV, SIG_DFL);
        *static_cast<volatile std::byte*>(at) = std::byte{1};
      },
      again.low - 1);
  CHECK(end.how != "the body returned");
  pool.release(again);
  pool.release(stacks[0]);
}

// --- misuse

TEST_CASE("a depot outlives its pools and stacks") {
  hocket_test::expect_fatal(
      [] {
        stack_depot depot;
        static_cast<void>(depot.acquire());
      },
      "stack_depot was destroyed while coroutines live");
}
