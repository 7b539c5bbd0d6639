// What happens to a spawn on a task manager while it is under way: its deadline passes, its target refuses it, somebody
// waits for it. On one thread, from inside of what a spawn calls.
#include <hocket/core/or_throw.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shielded.hpp>

#include "suites/managed_world.hpp"
#include "support/death.hpp"
#include "support/runtime_look.hpp"
#include "unit/coro/queue_executor.hpp"
#include "unit/runtime/dump_table.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

task<> wait_at_gate(trace& t) {
  leaving here(t);
  co_await or_throw(t.gate.wait());
  ++t.returned;
}

// Does something as it is moved to its place.
struct busy_call {
  explicit busy_call(trace& t, std::function<void()> on_move) : of(&t), then(std::move(on_move)) {}
  busy_call(busy_call&& other) : of(other.of), then(std::move(other.then)) {
    if (then) then();
  }
  task<> operator()() { return wait_at_gate(*of); }
  trace* of;
  std::function<void()> then;
};

// A loop's front, which may refuse.
class front final : public spawn_target {
 public:
  explicit front(loop& of) noexcept : of_(of) {}
  executor& home() noexcept override { return of_.home(); }
  context& parent_context() noexcept override { return of_.parent_context(); }
  std::error_code enroll(std::size_t count) noexcept override {
    if (before_refusal) {
      before_refusal();
      return std::make_error_code(std::errc::operation_canceled);
    }
    return of_.enroll(count);
  }
  std::error_code enroll_children(std::size_t count) noexcept override { return of_.enroll_children(count); }
  void leave() noexcept override { of_.leave(); }
  unhandled_handler on_unhandled() const noexcept override { return of_.on_unhandled(); }

  std::function<void()> before_refusal;

 private:
  loop& of_;
};

// A target whose executor has no timers, and runs nothing.
class timeless final : public spawn_target {
 public:
  executor& home() noexcept override { return queue_; }
  context& parent_context() noexcept override { return context::root(); }
  std::error_code enroll(std::size_t) noexcept override { return {}; }
  void leave() noexcept override {}
  unhandled_handler on_unhandled() const noexcept override { return &abort_on_unhandled; }

 private:
  queue_executor queue_;
};

task<> record_end(task_manager& tm, task_id id, trace& t) {
  auto how = co_await tm.wait(id);
  if (how) t.how = *how;
  else t.error = how.error();
  ++t.returned;
}

task<> spawn_bare_and_scoped(trace& t, std::function<void()>& between) {
  between();
  auto bare = spawn(wait_at_gate, std::ref(t));
  auto refused = co_await bare.join();
  if (!refused) t.error = refused.error();
  auto body = [&t](scope& all) -> task<> {
    spawn(all, wait_at_gate, std::ref(t));
    co_return;
  };
  co_await in_scope(body);
}

}  // namespace

TEST_CASE("a deadline that passes before the spawn is through cancels the coroutine all the same") {
  managed_world w;
  manual_clock frames;
  task_manager tm(w.lp, {.clock = &frames});
  bool passed = false;
  busy_call call(w.t, [&] {
    if (std::exchange(passed, true)) return;
    frames.advance(2s);
    tm.tick();
  });
  auto h = spawn(tm, {.within = 1s}, std::move(call));
  REQUIRE(tm.find(h.id()));
  CHECK(tm.find(h.id())->stop_reason == outcome_kind::timed_out);
  w.run();
  CHECK(h.done());
  CHECK(w.t.begun == 1);
  CHECK(tm.counts().timed_out == 1);
}

TEST_CASE("whoever waits for a coroutine that its target refuses is told that there is none") {
  trace waiter;
  managed_world w;
  front at(w.lp);
  task_manager tm(at);
  task_id seen = task_id::none;
  at.before_refusal = [&] {
    tm.for_each([&](const task_info& one) { seen = one.id; });
    spawn(w.lp, record_end, std::ref(tm), seen, std::ref(waiter));
    w.run();
  };
  auto h = spawn(tm, {.group = 4}, wait_at_gate, std::ref(w.t));
  CHECK(h.done());
  CHECK(h.id() == task_id::none);
  CHECK(seen != task_id::none);
  w.run();
  CHECK(waiter.returned == 1);
  CHECK(waiter.error == std::errc::no_such_process);
  CHECK(tm.size() == 0);
  CHECK(tm.group_size(4) == 0);
  const manager_counts counts = tm.counts();
  CHECK(counts.refused == 1);
  CHECK(counts.spawned == 0);
  CHECK(counts.live == 0);
}

TEST_CASE("a target that takes nothing new refuses what a managed coroutine spawns, but for children of scopes") {
  managed_world w;
  front at(w.lp);
  task_manager tm(at);
  std::function<void()> between = [&] { at.before_refusal = [] {}; };
  auto h = spawn(tm, spawn_bare_and_scoped, std::ref(w.t), std::ref(between));
  w.run();
  CHECK(w.t.error == std::errc::operation_canceled);
  CHECK(w.t.begun == 1);
  w.t.gate.set();
  w.run();
  CHECK(h.done());
  CHECK(w.t.returned == 1);
}

TEST_CASE("what was cancelled before its deadline has passed was cancelled") {
  trace waiter;
  event cleaned_up;
  managed_world w;
  task_manager tm(w.lp);
  auto lingers = [](trace& t, event& cleaned) -> task<> {
    leaving here(t);
    auto first = co_await t.gate.wait();
    auto second = co_await shielded(cleaned.wait());
    if (!first && second) co_await or_throw(t.gate.wait());
  };
  auto h = spawn(tm, {.within = 5s}, lingers, std::ref(w.t), std::ref(cleaned_up));
  spawn(w.lp, record_end, std::ref(tm), h.id(), std::ref(waiter));
  w.run();
  CHECK_FALSE(tm.cancel(h.id()));
  w.run();
  w.pass(5s);
  CHECK_FALSE(h.done());
  cleaned_up.set();
  w.run();
  CHECK(waiter.how == outcome_kind::cancelled);
  CHECK(sync_wait(h.join()).error() == std::errc::operation_canceled);
}

TEST_CASE("a manager that is destroyed by one of its own coroutines is fatal") {
  auto destroys = [](std::unique_ptr<task_manager>& tm) -> task<> {
    tm.reset();
    co_return;
  };
  expect_fatal(
      [&] {
        loop lp;
        auto tm = std::make_unique<task_manager>(lp);
        spawn(*tm, destroys, std::ref(tm));
        lp.run();
      },
      "a task_manager was destroyed by one of its own coroutines");
}

TEST_CASE("a reply that is failed without an error is fatal, and so is a deadline where there are no timers") {
  expect_fatal(
      [] {
        loop lp;
        task_manager tm(lp);
        auto reply = tm.expect<int>();
        static_cast<void>(tm.fail(reply.id(), {}));
      },
      "a reply was failed with an error code that means success");
  expect_fatal(
      [] {
        timeless where;
        task_manager tm(where);
        auto reply = tm.expect<int>();
        static_cast<void>(tm.set_deadline(reply.id(), time_point{}));
      },
      "of an executor without timers");
}

TEST_CASE("an expectation that is assigned to itself goes on") {
  loop lp;
  task_manager tm(lp);
  auto reply = tm.expect<int>();
  auto& same = reply;
  reply = std::move(same);
  CHECK_FALSE(tm.complete(reply.id(), 6));
  CHECK(sync_wait(reply) == 6);
}

TEST_CASE("a manager and its loop end though the loop has never run") {
  trace t;
  expectation<int> reply;
  {
    loop lp;
    task_manager tm(lp);
    auto h = spawn(tm, {.within = 1h}, wait_at_gate, std::ref(t));
    reply = tm.expect<int>({.within = 1h});
    auto other = tm.expect<int>({.within = 1s});
  }
  CHECK(t.begun == 0);
  CHECK(sync_wait(reply).error() == std::errc::operation_canceled);
}

std::string with_id(const std::string& name, task_id id) {
  return name + " #" + std::to_string(static_cast<std::uint64_t>(id));
}

TEST_CASE("a dump names the managed coroutine whose end is waited for, and gives its id") {
  trace waiter;
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, {.name = "awaited one"}, wait_at_gate, std::ref(w.t));
  spawn(w.lp, {.name = "free one"}, record_end, std::ref(tm), h.id(), std::ref(waiter));
  w.run();
  const dump_table seen(w.lp);
  CHECK(seen[with_id("awaited one", h.id())].state == "waiting");
  CHECK(seen["free one"].awaited == with_id("the end of a managed coroutine \"awaited one\"", h.id()));
  w.t.gate.set();
  w.run();
  CHECK(waiter.how == outcome_kind::value);
}

TEST_CASE("a runtime's dump gives the ids of managed coroutines, too, even if its workers do not stand still") {
  std::atomic<bool> runs{false}, go{false};
  trace t;
  hocket::runtime rt({.workers = 2});
  task_manager tm(rt);
  auto h = spawn(tm, {.name = "waits"}, wait_at_gate, std::ref(t));
  auto hold = [&]() -> task<> {
    runs = true;
    while (!go) std::this_thread::yield();
    co_return;
  };
  detail::runtime_look::wait_until_asleep(rt);
  auto holds_worker = spawn(tm, hold);
  while (!runs) std::this_thread::yield();
  CHECK(holds(dump_text(rt), "\n" + with_id("waits", h.id()) + "  "));
  go = true;
  t.gate.set();
  CHECK(sync_wait(tm.join()).has_value());
}

TEST_CASE("a circle of waits by id is told, with the ids") {
  managed_world w;
  task_manager tm(w.lp);
  managed_handle<> one, two;
  auto wait_for = [&](managed_handle<>& other) -> task<> { [[maybe_unused]] auto how = co_await tm.wait(other.id()); };
  one = spawn(tm, {.name = "one"}, wait_for, std::ref(two));
  two = spawn(tm, {.name = "two"}, wait_for, std::ref(one));
  w.run();
  const std::string text = dump_text(w.lp), first = with_id("\"one\"", one.id()), second = with_id("\"two\"", two.id());
  CHECK(holds(text, "deadlock: they wait for one another, 2 in a circle\n"));
  CHECK(holds(text, "  " + first + " waits for the end of a managed coroutine, which needs " + second + "\n"));
  CHECK(holds(text, "  " + second + " waits for the end of a managed coroutine, which needs " + first + "\n"));
  one.cancel();
  w.run();
}
