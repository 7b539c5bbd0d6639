// Calls of task managers by ids of no coroutine, and by a coroutine's own id; a handle with an id as an awaitable.
#pragma once
#include <hocket/coro/then.hpp>

#include "suites/managed_world.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

namespace hocket_test {

using managed = HOCKET_MANAGED_KIND;

// Ids of no coroutine, beside `one`: of other uses of its place, of other places, of another table, and none.
inline std::vector<task_id> strangers_of(task_id one) {
  const auto bits = static_cast<std::uint64_t>(one);
  std::vector<task_id> all{task_id::none};
  for (const std::uint64_t id : {~std::uint64_t{0}, bits + (std::uint64_t{1} << 32), bits & 0xffff'ffff, bits + 16,
                                 bits ^ 1, bits | 0xffff'fff8, bits ^ (std::uint64_t{1} << 63)})
    all.push_back(static_cast<task_id>(id));
  return all;
}

TEST_CASE("whatever is asked by an id that nobody has is told so, and does nothing to those that there are") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, {.within = 5s}, managed::stand, std::ref(w.t));
  auto reply = tm.expect<int>({.within = 5s});
  w.run();
  std::size_t late = 0;
  for (const task_id one : {h.id(), reply.id()})
    for (const task_id id : strangers_of(one)) {
      CAPTURE(static_cast<std::uint64_t>(id));
      CHECK_FALSE(tm.find(id));
      CHECK(tm.cancel(id) == std::errc::no_such_process);
      CHECK(tm.kill(id) == std::errc::no_such_process);
      CHECK(tm.set_deadline(id, 1s) == std::errc::no_such_process);
      CHECK(tm.set_deadline(id, time_point::min()) == std::errc::no_such_process);
      CHECK(tm.complete(id, 1) == std::errc::no_such_process);
      CHECK(tm.complete(id) == std::errc::no_such_process);
      CHECK(tm.fail(id, std::make_error_code(std::errc::io_error)) == std::errc::no_such_process);
      CHECK(tm.counts().late == (late += 3));
      trace waiter;
      spawn(w.lp, managed::wait_for, std::ref(tm), id, std::ref(waiter));
      w.run();
      CHECK(waiter.returned == 1);
      CHECK(waiter.error == std::errc::no_such_process);
    }
  CHECK(tm.find(h.id())->stop_reason == hocket::outcome_kind::none);
  CHECK(tm.find(h.id())->deadline == w.time.now() + 5s);
  CHECK_FALSE(reply.is_ready());
  CHECK_FALSE(h.done());
  w.t.gate.set();
  w.run();
  CHECK(w.t.returned == 1);
}

// What a coroutine of a manager does to itself before it waits at the gate, and how it ends.
struct self_made {
  std::error_code told;
  manager_counts ends;
};
template <class Act>
self_made act_on_oneself(Act act) {
  self_made made;
  trace t;
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, {.within = 5s}, managed::act_and_insist, std::function<void()>([&] { made.told = act(tm); }),
                 std::ref(t));
  for (int turn = 0; turn < 2; ++turn) w.run();  // a deadline in the past passes in the second
  t.gate.set();
  w.run();
  CHECK(h.done());
  made.ends = tm.counts();
  return made;
}

TEST_CASE("a coroutine that stops itself by its id goes on to its next wait") {
  const self_made cancelled = act_on_oneself([](task_manager& tm) { return tm.cancel(tm.current()); });
  CHECK_FALSE(cancelled.told);
  CHECK(cancelled.ends.cancelled == 1);
  const self_made killed = act_on_oneself([](task_manager& tm) { return tm.kill(tm.current()); });
  CHECK_FALSE(killed.told);
  CHECK(killed.ends.killed == 1);
}

TEST_CASE("a coroutine that gives itself a deadline in the past is timed out at its next wait") {
  const self_made late = act_on_oneself([](task_manager& tm) { return tm.set_deadline(tm.current(), -1s); });
  CHECK_FALSE(late.told);
  CHECK(late.ends.timed_out == 1);
}

TEST_CASE("a coroutine is no reply, not to itself either, and finds itself") {
  const self_made completed = act_on_oneself([](task_manager& tm) {
    const task_id self = tm.current();
    CHECK(tm.complete(self) == std::errc::invalid_argument);
    CHECK(tm.fail(self, std::make_error_code(std::errc::io_error)) == std::errc::invalid_argument);
    CHECK(tm.counts().late == 0);
    auto info = tm.find(self);
    REQUIRE(info);
    CHECK(info->id == self);
    CHECK(info->kind == managed::kind);
    CHECK(info->stop_reason == hocket::outcome_kind::none);
    return tm.complete(self, 1);
  });
  CHECK(completed.told == std::errc::invalid_argument);
  CHECK(completed.ends.returned == 1);
}

TEST_CASE("a managed handle goes into `then`, and its coroutine is known by its id until it has ended") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, managed::give, std::ref(w.t), 20);
  const task_id id = h.id();
  auto text = then(std::move(h), [](int n) { return std::to_string(n + 1); });
  w.run();
  REQUIRE(tm.find(id));
  w.t.gate.set();
  w.run();
  CHECK_FALSE(tm.find(id));
  CHECK(sync_wait(std::move(text)) == "21");
}

TEST_CASE(
    "`then` of what was killed, cancelled or refused throws what the handle throws, or gets the error of its join") {
  bool called = false;
  managed_world w;
  task_manager tm(w.lp, {.limit = 2});
  auto killed = spawn(tm, managed::give, std::ref(w.t), 1);
  auto cancelled = spawn(tm, managed::give, std::ref(w.t), 2);
  auto refused = spawn(tm, managed::give, std::ref(w.t), 3);
  w.run();
  CHECK(refused.id() == task_id::none);
  CHECK_FALSE(tm.kill(killed.id()));
  CHECK_FALSE(tm.cancel(cancelled.id()));
  w.run();
  auto of_killed = then(killed, [&](int) { called = true; });
  CHECK_THROWS_AS(sync_wait(std::move(of_killed)), hocket::cancelled);
  auto of_cancelled = then(cancelled.join(), [](result<int> n) { return n.error(); });
  CHECK(sync_wait(std::move(of_cancelled)) == std::errc::operation_canceled);
  auto of_refused = then(refused.join(), [](result<int> n) { return n.error(); });
  CHECK(sync_wait(std::move(of_refused)) == std::errc::resource_unavailable_try_again);
  CHECK_FALSE(called);
}

}  // namespace hocket_test
