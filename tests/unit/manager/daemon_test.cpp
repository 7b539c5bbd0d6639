// Daemons as tasks, on every target; and what is particular to some targets.
#include <hocket/core/spawn_batch.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/seam/worker_at.hpp>

namespace hocket_test {

template <class Target, class Options, class F>
auto spawn_body(Target& target, const Options& options, F& body) {
  return hocket::spawn(target, options, std::ref(body));
}

}  // namespace hocket_test

#include "suites/daemons.hpp"

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> wait_for(event& condition) { [[maybe_unused]] auto set = co_await condition.wait(); }
task<> insist(event& condition, std::atomic<int>& begun) {
  ++begun;
  auto body = [&]() -> task<> { [[maybe_unused]] auto set = co_await condition.wait(); };
  co_await shielded(body());
}

constexpr int no_report = -1;

}  // namespace

TEST_CASE("a shutdown reports its daemons apart") {
  event never, open;
  hocket::runtime rt({.workers = 2});
  for (int i = 0; i < 3; ++i) spawn(rt, {.daemon = true}, wait_for, std::ref(never));
  for (int i = 0; i < 5; ++i) spawn(rt, wait_for, std::ref(open));
  CHECK(rt.live() == 8);
  std::thread opens([&] { open.set(); });
  const shutdown_report report = rt.shutdown({.drain = 1h, .cancel = 1h, .report = no_report});
  opens.join();
  CHECK(report.drained <= 5);  // fewer if some had ended before
  CHECK(report.cancelled + report.killed + report.remaining == 0);
  CHECK(report.daemons.cancelled == 3);
  CHECK(report.daemons.killed + report.daemons.remaining == 0);
  CHECK(rt.live() == 0);
}

TEST_CASE("daemons are cancelled with the others if the drain is over") {
  event never;
  hocket::runtime rt({.workers = 2});
  for (int i = 0; i < 3; ++i) spawn(rt, {.daemon = true}, wait_for, std::ref(never));
  for (int i = 0; i < 5; ++i) spawn(rt, wait_for, std::ref(never));
  const shutdown_report report = rt.shutdown({.cancel = 1h, .report = no_report});
  CHECK(report.drained == 0);
  CHECK(report.cancelled == 5);
  CHECK(report.daemons.cancelled == 3);
}

TEST_CASE("a daemon that does not heed the cancel is killed, and reported apart") {
  for (const bool drains : {true, false}) {
    event never;
    std::atomic<int> begun{0};
    hocket::runtime rt({.workers = 2});
    spawn(rt, {.daemon = true}, insist, std::ref(never), std::ref(begun));
    spawn(rt, {.daemon = true}, wait_for, std::ref(never));
    if (!drains) spawn(rt, insist, std::ref(never), std::ref(begun));
    while (begun != (drains ? 1 : 2)) std::this_thread::yield();
    const shutdown_report report = rt.shutdown({.cancel = 1ms, .kill = 1h, .report = no_report});
    CHECK(report.killed == (drains ? 0 : 1));
    CHECK(report.daemons.killed >= 1);
    CHECK(report.daemons.cancelled + report.daemons.killed == 2);
    CHECK(report.remaining + report.daemons.remaining == 0);
  }
}

TEST_CASE("a daemon that does not let go is reported as left") {
  std::atomic<bool> runs{false}, go{false};
  hocket::runtime rt({.workers = 2});
  auto hold = [&]() -> task<> {
    runs = true;
    while (!go) std::this_thread::yield();
    co_return;
  };
  spawn(rt, {.daemon = true}, hold);
  while (!runs) std::this_thread::yield();
  const shutdown_report report = rt.shutdown({.cancel = 0ms, .kill = 0ms, .report = no_report});
  CHECK(report.daemons.remaining == 1);
  CHECK(report.remaining == 0);
  go = true;
}

TEST_CASE("a runtime that is shut down refuses daemons, and admits those of scopes until it kills") {
  event never;
  hocket::runtime rt({.workers = 1});
  scope all{rt};
  CHECK(rt.shutdown().daemons.cancelled == 0);
  auto refused = spawn(rt, {.daemon = true}, wait_for, std::ref(never));
  CHECK(sync_wait(refused.join()).error() == std::errc::operation_canceled);
  auto admitted = spawn(all, {.daemon = true}, wait_for, std::ref(never));
  static_cast<void>(sync_wait(all.join()));
  CHECK(sync_wait(admitted.join()).has_value());
}

TEST_CASE("the daemons of a scope are cancelled when its runtime ends them") {
  event never;
  hocket::runtime rt({.workers = 2});
  scope all{rt};
  auto handle = spawn(all, {.daemon = true}, wait_for, std::ref(never));
  const shutdown_report report = rt.shutdown({.drain = 1h, .cancel = 1h, .report = no_report});
  CHECK(report.daemons.cancelled == 1);
  CHECK(handle.done());
}

TEST_CASE("a daemon in a batch begins at once") {
  event never;
  loop lp;
  spawn_batch batch(lp);
  spawn(batch, wait_for, std::ref(never));
  spawn(batch, {.daemon = true}, wait_for, std::ref(never));
  CHECK(batch.size() == 1);
  CHECK(lp.live() == 1);
  never.set();
  batch.flush();
  lp.run();
  CHECK(lp.live() == 0);
}

TEST_CASE("a daemon that begins at a worker holds no drain") {
  event never;
  hocket::runtime rt({.workers = 2});
  hocket::detail::worker_at second(rt, 1);
  spawn(second, {.daemon = true}, wait_for, std::ref(never));
  CHECK(rt.shutdown({.drain = 1h, .cancel = 1h, .report = no_report}).daemons.cancelled == 1);
}

TEST_CASE("a stopped run of a loop leaves its daemons alone") {
  event never;
  loop lp;
  auto daemon = spawn(lp, {.daemon = true}, wait_for, std::ref(never));
  auto other = spawn(lp, wait_for, std::ref(never));
  lp.stop();
  lp.run();
  CHECK(!daemon.done());
  lp.run_for(0ms);
  CHECK(!daemon.done());
  other.cancel();
  lp.run_until(other);
  CHECK(!daemon.done());
  lp.run();
  CHECK(daemon.done());
}

// --- task managers

TEST_CASE("a managed daemon has an id, counts, and is stopped by it") {
  event never;
  loop lp;
  task_manager tm(lp, {.limit = 1});
  task_id present = task_id::none;
  auto body = [&]() -> task<> {
    present = tm.current();
    co_await wait_for(never);
  };
  auto other = spawn(tm, wait_for, std::ref(never));
  auto daemon = spawn(tm, {.group = task_group{7}, .daemon = true}, body);  // beyond the limit
  lp.run_for(0ms);
  CHECK(daemon.id() != task_id::none);
  CHECK(present == daemon.id());
  CHECK(tm.find(daemon.id()).has_value());
  CHECK(tm.size() == 2);
  CHECK(tm.group_size(task_group{7}) == 1);
  auto refused = spawn(tm, wait_for, std::ref(never));
  CHECK(sync_wait(refused.join()).error() == std::errc::resource_unavailable_try_again);
  CHECK(!tm.cancel(daemon.id()));
  lp.run_until(daemon);
  CHECK(tm.size() == 1);
  CHECK(!other.done());
  tm.close();
  auto late = spawn(tm, {.daemon = true}, wait_for, std::ref(never));
  CHECK(sync_wait(late.join()).error() == std::errc::operation_canceled);
  CHECK(tm.size() == 1);
}

TEST_CASE("the deadline of a managed daemon ends it, and holds no drain") {
  event never;
  for (const bool earlier_other : {false, true}) {
    manual_clock clock;
    loop lp({.clock = &clock});
    task_manager tm(lp);
    auto short_lived = spawn(tm, {.within = 1s, .daemon = true}, wait_for, std::ref(never));
    auto long_lived = spawn(tm, {.within = 1h, .daemon = true}, wait_for, std::ref(never));
    auto other = spawn(tm, {.within = earlier_other ? 10ms : 10s}, wait_for, std::ref(never));
    lp.run_for(0ms);
    clock.advance(2s);
    lp.run_for(0ms);
    CHECK(short_lived.done());
    CHECK(!long_lived.done());
    if (!earlier_other) {
      CHECK(!other.done());
      CHECK(!tm.cancel(other.id()));
    }
    lp.run();
    CHECK(other.done());
    CHECK(long_lived.done());
    CHECK(lp.live() == 0);
  }
}

TEST_CASE("a deadline of a managed daemon passes when no other coroutine is left") {
  event never;
  manual_clock clock;
  loop lp({.clock = &clock});
  task_manager tm(lp);
  auto other = spawn(tm, {.within = 1h}, wait_for, std::ref(never));
  auto daemon = spawn(tm, {.within = 2s, .daemon = true}, wait_for, std::ref(never));
  lp.run_for(0ms);
  CHECK(!tm.cancel(other.id()));
  lp.run_for(0ms);
  CHECK(other.done());
  CHECK(!daemon.done());
  clock.advance(3s);
  lp.run_for(0ms);
  CHECK(daemon.done());
  CHECK(lp.live() == 0);  // the manager has nothing to do
}

// It is spawned on the loop's thread, so the keeper of its deadline is armed at once, and nothing ends later in the
// manager that would have the keeper move to the daemons.
TEST_CASE("a daemon with a deadline, alone in its manager, holds no drain") {
  event never;
  loop lp;
  task_manager tm(lp);
  managed_handle<> daemon;
  auto body = [&]() -> task<> {
    daemon = spawn(tm, {.within = 1h, .daemon = true}, wait_for, std::ref(never));
    co_return;
  };
  auto other = spawn(lp, body);
  lp.run();
  CHECK(other.done());
  CHECK(daemon.done());
}

TEST_CASE("the daemons of a manager end with those of its runtime") {
  event never;
  hocket::runtime rt({.workers = 2});
  task_manager tm(rt);
  auto daemon = spawn(tm, {.within = 1h, .daemon = true}, wait_for, std::ref(never));
  auto body = [&]() -> task<> {
    spawn({.daemon = true}, wait_for, std::ref(never));  // without an id
    co_return;
  };
  auto other = spawn(tm, body);
  const shutdown_report report = rt.shutdown({.drain = 1h, .cancel = 1h, .report = no_report});
  CHECK(report.cancelled + report.killed + report.remaining == 0);
  CHECK(report.daemons.cancelled >= 2);  // and perhaps the alarm of the manager
  CHECK(report.daemons.remaining == 0);
  CHECK(daemon.done());
  CHECK(tm.size() == 0);
}
