// Task managers on a loop with a clock of the test's own, for tasks and for fibers: the includer defines
// HOCKET_MANAGED_KIND, a class with the bodies below. Everything runs on one thread; races are in tests/stress.
#pragma once
#include "suites/managed_world.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace hocket_test {

using managed = HOCKET_MANAGED_KIND;

TEST_CASE("a managed coroutine is known by its id, from its spawn to its end") {
  managed_world w;
  task_manager tm(w.lp);
  int data = 0;
  auto h = spawn(tm, {.name = "stands", .within = 5s, .group = 7, .data = &data}, managed::stand, std::ref(w.t));
  CHECK(h.id() != task_id::none);
  auto info = tm.find(h.id());
  REQUIRE(info);
  CHECK(info->id == h.id());
  CHECK_FALSE(info->expected);
  CHECK(info->kind == managed::kind);
  CHECK(std::string(info->name) == "stands");
  CHECK(info->group == task_group(7));
  CHECK(info->data == &data);
  CHECK(info->deadline == w.time.now() + 5s);
  CHECK(info->stop_reason == hocket::outcome_kind::none);
  CHECK(info->spawned.line() != 0);
  CHECK(tm.size() == 1);
  w.run();
  w.t.gate.set();
  w.run();
  CHECK(h.done());
  CHECK(w.t.returned == 1);
  CHECK_FALSE(tm.find(h.id()));
  CHECK(tm.cancel(h.id()) == std::errc::no_such_process);
  CHECK(tm.kill(h.id()) == std::errc::no_such_process);
  CHECK(tm.set_deadline(h.id(), 1s) == std::errc::no_such_process);
  CHECK(tm.size() == 0);
  CHECK(tm.counts().returned == 1);
}

TEST_CASE("no id is given twice") {
  managed_world w;
  task_manager tm(w.lp);
  w.t.gate.set();
  std::set<task_id> seen;
  for (int i = 0; i < 500; ++i) {
    auto one = spawn(tm, managed::stand, std::ref(w.t));
    auto other = spawn(tm, managed::stand, std::ref(w.t));
    auto reply = tm.expect<int>();
    CHECK(seen.insert(one.id()).second);
    CHECK(seen.insert(other.id()).second);
    CHECK(seen.insert(reply.id()).second);
    w.run();
  }
  CHECK(seen.count(task_id::none) == 0);
}

TEST_CASE("cancel() ends the wait of a coroutine, kill() unwinds it") {
  managed_world w;
  task_manager tm(w.lp);
  auto asked = spawn(tm, managed::stand, std::ref(w.t));
  w.run();
  CHECK_FALSE(tm.cancel(asked.id()));
  CHECK(tm.find(asked.id())->stop_reason == hocket::outcome_kind::cancelled);
  w.run();
  CHECK(w.t.returned == 1);
  CHECK(w.t.error == std::errc::operation_canceled);

  auto told = spawn(tm, managed::stand, std::ref(w.t));
  w.run();
  CHECK_FALSE(tm.kill(told.id()));
  w.run();
  CHECK(w.t.returned == 1);
  CHECK(w.t.gone == 2);
  CHECK(tm.counts().killed == 1);
}

TEST_CASE("a killed coroutine that has not begun does not begin") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, managed::stand, std::ref(w.t));
  CHECK_FALSE(tm.kill(h.id()));
  w.run();
  CHECK(w.t.begun == 0);
  CHECK(h.done());
  CHECK(tm.counts().killed == 1);
}

TEST_CASE("wait() tells how a coroutine has ended") {
  managed_world w;
  task_manager tm(w.lp);
  auto end_of = [&](auto body, auto how) {
    trace waiter;
    w.t.gate.reset();
    auto h = spawn(tm, {.within = 10s}, body, std::ref(w.t));
    spawn(w.lp, managed::wait_for, std::ref(tm), h.id(), std::ref(waiter));
    w.run();
    how(h.id());
    w.run();
    CHECK(waiter.returned == 1);
    return waiter.how;
  };
  auto open = [&](task_id) { w.t.gate.set(); };
  auto cancel = [&](task_id id) { CHECK_FALSE(tm.cancel(id)); };
  auto kill = [&](task_id id) { CHECK_FALSE(tm.kill(id)); };
  auto time_out = [&](task_id) { w.time.advance(10s); };
  CHECK(end_of(managed::stand, open) == hocket::outcome_kind::value);
  CHECK(end_of(managed::stand, cancel) == hocket::outcome_kind::value);  // it returned, whatever was asked of it
  CHECK(end_of(managed::insist, cancel) == hocket::outcome_kind::cancelled);
  CHECK(end_of(managed::insist, time_out) == hocket::outcome_kind::timed_out);
  CHECK(end_of(managed::insist, kill) == hocket::outcome_kind::killed);
  const manager_counts counts = tm.counts();
  CHECK(counts.spawned == 5);
  CHECK(counts.returned == 2);
  CHECK(counts.cancelled == 1);
  CHECK(counts.timed_out == 1);
  CHECK(counts.killed == 1);
  CHECK(counts.live == 0);
}

TEST_CASE("an exception that leaves a managed coroutine is its handle's") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, managed::fail, std::ref(w.t));
  w.run();
  CHECK(tm.counts().thrown == 1);
  CHECK_THROWS_AS(sync_wait(h), std::runtime_error);
}

TEST_CASE("an exception that nobody receives goes where the manager says") {
  static int unhandled;
  unhandled = 0;
  managed_world w;
  task_manager tm(w.lp, {.on_unhandled = [](std::exception_ptr, const context&) noexcept { ++unhandled; }});
  spawn(tm, managed::fail, std::ref(w.t));
  w.run();
  CHECK(unhandled == 1);
}

TEST_CASE("whoever waits for an unknown id, for a reply or for itself is told so") {
  trace none, reply, own;
  managed_world w;
  task_manager tm(w.lp);
  auto expected = tm.expect<int>();
  spawn(w.lp, managed::wait_for, std::ref(tm), static_cast<task_id>(12345), std::ref(none));
  spawn(w.lp, managed::wait_for, std::ref(tm), expected.id(), std::ref(reply));
  spawn(tm, managed::wait_for_itself, std::ref(tm), std::ref(own));
  w.run();
  CHECK(none.error == std::errc::no_such_process);
  CHECK(reply.error == std::errc::invalid_argument);
  CHECK(own.error == std::errc::resource_deadlock_would_occur);
  CHECK(tm.size() == 1);
}

TEST_CASE("several wait for one end; one gives up, one is killed, the others are told") {
  trace first, second, third, fourth;
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, managed::stand, std::ref(w.t));
  auto a = spawn(w.lp, managed::wait_for, std::ref(tm), h.id(), std::ref(first));
  auto b = spawn(w.lp, managed::wait_for, std::ref(tm), h.id(), std::ref(second));
  auto c = spawn(w.lp, managed::wait_for, std::ref(tm), h.id(), std::ref(third));
  auto d = spawn(w.lp, managed::wait_for, std::ref(tm), h.id(), std::ref(fourth));
  w.run();
  b.cancel();
  c.kill();
  w.run();
  CHECK(second.error == std::errc::operation_canceled);
  CHECK(third.gone == 1);
  CHECK(third.returned == 0);
  CHECK_FALSE(tm.kill(h.id()));
  w.run();
  CHECK(first.how == hocket::outcome_kind::killed);
  CHECK(fourth.how == hocket::outcome_kind::killed);
  CHECK(w.lp.live() == 0);
}

TEST_CASE("a deadline cancels; it can be moved, taken away and set anew") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, {.within = 10s}, managed::stand, std::ref(w.t));
  w.run();
  w.pass(9s);
  CHECK_FALSE(h.done());
  CHECK_FALSE(tm.set_deadline(h.id(), 10s));
  w.pass(9s);
  CHECK_FALSE(h.done());
  CHECK_FALSE(tm.set_deadline(h.id(), duration::max()));
  CHECK(tm.find(h.id())->deadline == time_point::max());
  w.pass(1h);
  CHECK_FALSE(h.done());
  CHECK_FALSE(tm.set_deadline(h.id(), tm.now() + 2s));
  CHECK_FALSE(tm.set_deadline(h.id(), tm.now() + 1s));
  w.pass(999ms);
  CHECK_FALSE(h.done());
  w.pass(1ms);
  CHECK(h.done());
  CHECK(w.t.error == std::errc::timed_out);
  CHECK(tm.set_deadline(h.id(), 1s) == std::errc::no_such_process);
}

TEST_CASE("a deadline in the past passes at the next turn, one at the end of time never does") {
  trace past, far;
  managed_world w;
  w.time.advance(1h);
  task_manager tm(w.lp);
  auto late = spawn(tm, {.within = -1s}, managed::insist, std::ref(past));
  auto never = spawn(tm, {.within = duration::max()}, managed::insist, std::ref(far));
  auto never_by_time = spawn(tm, {.within = duration::max() - 1ns}, managed::insist, std::ref(far));
  w.run();
  w.run();
  CHECK(late.done());
  CHECK(tm.counts().timed_out == 1);
  CHECK_FALSE(tm.set_deadline(never.id(), time_point::max()));
  w.pass(100h);
  CHECK_FALSE(never.done());
  CHECK_FALSE(never_by_time.done());
  CHECK_FALSE(tm.set_deadline(never.id(), time_point::min()));
  w.run();
  w.run();
  CHECK(never.done());
  CHECK(tm.counts().timed_out == 2);
}

TEST_CASE("a deadline that has passed ends every wait that comes") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, {.within = 1s}, managed::stand_twice, std::ref(w.t));
  w.run();
  w.pass(1s);
  CHECK(h.done());
  CHECK(w.t.error == std::errc::timed_out);
}

TEST_CASE("a deadline that has passed is not set again") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, {.within = 1s}, managed::stand_shielded, std::ref(w.t));
  w.run();
  CHECK_FALSE(tm.set_deadline(h.id(), 2s));
  w.pass(2s);
  auto info = tm.find(h.id());
  REQUIRE(info);
  CHECK(info->stop_reason == hocket::outcome_kind::timed_out);
  CHECK(info->deadline == time_point::max());
  CHECK(tm.set_deadline(h.id(), 1s) == std::errc::timed_out);
  CHECK(tm.set_deadline(h.id(), duration::max()) == std::errc::timed_out);
  CHECK(tm.find(h.id())->deadline == time_point::max());
  w.t.gate.set();
  w.run();
  CHECK(h.done());
  CHECK(w.t.returned == 1);
}

TEST_CASE("a loop does not wait for the deadline of what has ended") {
  managed_world w;
  task_manager tm(w.lp);
  w.t.gate.set();
  auto h = spawn(tm, {.within = 1h}, managed::stand, std::ref(w.t));
  auto reply = tm.expect<int>({.within = 1h});
  CHECK_FALSE(tm.complete(reply.id(), 1));
  w.lp.run();
  CHECK(h.done());
  CHECK(w.lp.live() == 0);
}

TEST_CASE("with the caller's clock, deadlines pass in tick()") {
  managed_world w;
  manual_clock frames;
  task_manager tm(w.lp, {.clock = &frames});
  auto h = spawn(tm, {.within = 2s}, managed::insist, std::ref(w.t));
  auto reply = tm.expect<int>({.within = 1s});
  w.run();
  w.pass(1h);
  CHECK(tm.tick() <= frames.now() + 1s);
  CHECK(tm.size() == 2);
  frames.advance(1s);
  CHECK(tm.tick() <= frames.now() + 1s);
  CHECK(reply.is_ready());
  CHECK_FALSE(tm.set_deadline(h.id(), 2s));
  frames.advance(1s);
  tm.tick();
  w.run();
  CHECK_FALSE(h.done());
  frames.advance(1s);
  CHECK(tm.tick() == time_point::max());
  w.run();
  CHECK(h.done());
  CHECK(tm.counts().timed_out == 1);
  CHECK(tm.counts().expired == 1);
}

TEST_CASE("a time-out is the same word for a loop and a manager, in a wait, a child's wait and a join") {
  managed_world w;
  task_manager tm(w.lp);
  trace by_loop, by_manager;
  auto one = spawn(w.lp, {.within = 1s}, managed::insist, std::ref(by_loop));
  auto two = spawn(tm, {.within = 1s}, managed::insist, std::ref(by_manager));
  auto child = spawn(tm, {.within = 1s}, managed::stand_in_scope, std::ref(w.t));
  w.run();
  w.pass(1s);
  w.run();
  CHECK(w.t.error == std::errc::timed_out);
  CHECK(child.done());
  CHECK(sync_wait(one.join()).error() == std::errc::timed_out);
  CHECK(sync_wait(two.join()).error() == std::errc::timed_out);
}

// On a loop and on a manager. An unhandled exception would end the program.
template <class Body>
void expect_deadline_to_be_handled(Body body) {
  managed_world w;
  task_manager tm(w.lp);
  spawn(w.lp, {.within = 1s}, body, std::ref(w.t));
  spawn(tm, {.within = 1s}, body, std::ref(w.t));
  w.run();
  w.pass(1s);
  CHECK(w.t.gone == 2);
  CHECK(w.lp.live() == 0);
}

TEST_CASE("a deadline that ends a coroutine without a join is no unhandled exception") {
  expect_deadline_to_be_handled(managed::insist);
}

TEST_CASE("a deadline that ends a coroutine in a scope is no unhandled exception") {
  expect_deadline_to_be_handled(managed::insist_in_scope);
}

// What a managed coroutine of that body notes when its deadline has passed.
template <class Body>
void expect_after_time_out(Body body, std::errc error) {
  managed_world w;
  task_manager tm(w.lp);
  spawn(tm, {.within = 1s}, body, std::ref(w.t));
  w.run();
  w.pass(1s);
  CHECK(w.t.gone == 1);
  CHECK(w.t.error == error);
  CHECK(w.lp.live() == 0);
}

TEST_CASE("a coroutine that is spawned in a scope after the time-out of its parent times out, too") {
  expect_after_time_out(managed::go_on_in_scope, std::errc::timed_out);
}

TEST_CASE("below a shield a cancel is a cancel, though the coroutine around it has timed out") {
  expect_after_time_out(managed::clean_up_in_scope, std::errc::operation_canceled);
}

TEST_CASE("a yield tells a cancel from a time-out, each time") {
  managed_world w;
  task_manager tm(w.lp);
  trace cancelled;
  for (int round = 0; round < 2; ++round) {
    auto stopped = spawn(tm, managed::yield_when_stopped, std::ref(cancelled));
    spawn(tm, {.within = 1s}, managed::yield_when_stopped, std::ref(w.t));
    w.run();
    CHECK_FALSE(tm.cancel(stopped.id()));
    w.run();
    w.pass(1s);
    CHECK(cancelled.error == std::errc::operation_canceled);
    CHECK(w.t.error == std::errc::timed_out);
  }
  CHECK(w.t.gone == 2);
  CHECK(w.lp.live() == 0);
}

}  // namespace hocket_test
