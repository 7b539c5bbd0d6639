// The counts of a task_manager fall again: places, replies and groups.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/manager/task_manager.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include <doctest/doctest.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {
task<> wait_for(event& condition) { [[maybe_unused]] auto set = co_await condition.wait(); }
}  // namespace

TEST_CASE("what a closed manager refuses takes no place") {
  event never;
  loop lp;
  task_manager tm(lp);
  tm.close();
  for (int i = 0; i < 3; ++i) {
    auto other = spawn(tm, wait_for, std::ref(never));
    auto daemon = spawn(tm, {.daemon = true}, wait_for, std::ref(never));
    auto reply = tm.expect<int>({});
    CHECK(other.id() == task_id::none);
    CHECK(daemon.id() == task_id::none);
    CHECK(reply.id() == task_id::none);
    CHECK(tm.size() == 0);
  }
  CHECK(tm.counts().refused == 9);
}

TEST_CASE("a reply that is given, failed, late or dropped is expected no longer") {
  manual_clock clock;
  loop lp({.clock = &clock});
  task_manager tm(lp);
  auto completed = tm.expect<int>({});
  auto failed = tm.expect<int>({});
  auto late = tm.expect<int>({.within = 1s});
  auto dropped = std::make_optional(tm.expect<int>({}));
  CHECK(tm.counts().expected == 4);
  CHECK(!tm.complete(completed.id(), 1));
  CHECK(tm.counts().expected == 3);
  CHECK(!tm.fail(failed.id(), std::make_error_code(std::errc::io_error)));
  CHECK(tm.counts().expected == 2);
  lp.run_for(0ms);
  clock.advance(2s);
  lp.run_for(0ms);
  CHECK(tm.counts().expected == 1);
  dropped.reset();
  CHECK(tm.counts().expected == 0);
}

TEST_CASE("the size of a group falls with each end") {
  event open;
  loop lp;
  task_manager tm(lp);
  constexpr task_group group{7};
  auto first = spawn(tm, {.group = group}, wait_for, std::ref(open));
  auto daemon = spawn(tm, {.group = group, .daemon = true}, wait_for, std::ref(open));
  auto reply = std::make_optional(tm.expect<int>({.group = group}));
  CHECK(tm.group_size(group) == 3);
  reply.reset();
  CHECK(tm.group_size(group) == 2);
  CHECK(!tm.cancel(daemon.id()));
  lp.run_until(daemon);
  CHECK(tm.group_size(group) == 1);
  open.set();
  lp.run_until(first);
  CHECK(tm.group_size(group) == 0);
}
