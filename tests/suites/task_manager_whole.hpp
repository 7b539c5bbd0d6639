// Task managers as a whole: groups, limits, children, their end; see task_manager.hpp.
#pragma once
#include "suites/managed_world.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace hocket_test {

using managed = HOCKET_MANAGED_KIND;

TEST_CASE("a group is stopped at once, and nothing beside it") {
  managed_world w;
  task_manager tm(w.lp);
  std::vector<managed_handle<>> one, other;
  for (int i = 0; i < 100; ++i) {
    one.push_back(spawn(tm, {.group = 1}, managed::insist, std::ref(w.t)));
    other.push_back(spawn(tm, {.group = 2}, managed::insist, std::ref(w.t)));
  }
  auto alone = spawn(tm, managed::insist, std::ref(w.t));
  w.run();
  CHECK(tm.group_size(1) == 100);
  CHECK(tm.group_size(3) == 0);
  CHECK(tm.cancel_group(0) == 0);
  CHECK(tm.cancel_group(3) == 0);
  CHECK(tm.cancel_group(1) == 100);
  w.run();
  CHECK(tm.group_size(1) == 0);
  CHECK(tm.group_size(2) == 100);
  CHECK(tm.counts().cancelled == 100);
  CHECK(tm.kill_group(2) == 100);
  w.run();
  CHECK(tm.counts().killed == 100);
  CHECK(tm.size() == 1);
  CHECK_FALSE(alone.done());
}

TEST_CASE("a group may be killed after it was cancelled, and its number used again") {
  trace later;
  managed_world w;
  task_manager tm(w.lp);
  auto shielded_one = spawn(tm, {.group = 1}, managed::stand_shielded, std::ref(w.t));
  w.run();
  CHECK(tm.cancel_group(1) == 1);
  w.run();
  CHECK_FALSE(shielded_one.done());
  auto next = spawn(tm, {.group = 1}, managed::stand, std::ref(later));
  w.run();
  CHECK_FALSE(next.done());
  CHECK(tm.kill_group(1) == 2);
  w.run();
  CHECK(shielded_one.done());
  CHECK(w.t.returned == 0);
  CHECK(later.returned == 0);
}

TEST_CASE("at its limit a manager refuses, and takes on again when something has ended") {
  trace not_begun;
  managed_world w;
  task_manager tm(w.lp, {.limit = 2});
  auto one = spawn(tm, managed::stand, std::ref(w.t));
  auto reply = tm.expect<int>();
  auto refused = spawn(tm, managed::stand, std::ref(not_begun));
  CHECK(refused.id() == task_id::none);
  CHECK(refused.done());
  auto error = sync_wait(refused.join());
  CHECK(error.error() == std::errc::resource_unavailable_try_again);
  auto not_expected = tm.expect<int>();
  CHECK(not_expected.id() == task_id::none);
  CHECK(sync_wait(not_expected).error() == std::errc::resource_unavailable_try_again);
  CHECK(tm.counts().refused == 2);
  CHECK_FALSE(tm.complete(reply.id(), 1));
  auto taken = spawn(tm, managed::stand, std::ref(w.t));
  CHECK(taken.id() != task_id::none);
  w.t.gate.set();
  w.run();
  CHECK(w.t.returned == 2);
  CHECK(not_begun.begun == 0);
}

TEST_CASE("a closed manager refuses, and goes on with what it has") {
  trace not_begun;
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, managed::stand, std::ref(w.t));
  tm.close();
  auto refused = spawn(tm, managed::stand, std::ref(not_begun));
  CHECK(refused.id() == task_id::none);
  CHECK(sync_wait(refused.join()).error() == std::errc::operation_canceled);
  auto reply = tm.expect<int>();
  CHECK(sync_wait(reply).error() == std::errc::operation_canceled);
  w.t.gate.set();
  w.run();
  CHECK(h.done());
  CHECK(not_begun.begun == 0);
}

TEST_CASE("for_each() meets everything, and may end what it meets") {
  managed_world w;
  task_manager tm(w.lp);
  std::set<task_id> ids;
  std::vector<managed_handle<>> handles;
  std::vector<expectation<int>> replies;
  for (int i = 0; i < 70; ++i) {
    handles.push_back(spawn(tm, {.group = i}, managed::stand, std::ref(w.t)));
    replies.push_back(tm.expect<int>());
    ids.insert(handles.back().id());
    ids.insert(replies.back().id());
  }
  std::set<task_id> met;
  tm.for_each([&](const task_info& one) {
    CHECK(met.insert(one.id).second);
    CHECK_FALSE(tm.kill(one.id));
  });
  CHECK(met == ids);
  w.run();
  CHECK(tm.size() == 0);
}

TEST_CASE("join() waits for all, for children and replies, too") {
  trace joined;
  managed_world w;
  task_manager tm(w.lp);
  auto parent = spawn(tm, managed::spawn_child, std::ref(w.t));
  auto reply = tm.expect<int>();
  spawn(w.lp, managed::join, std::ref(tm), std::ref(joined));
  w.run();
  CHECK(parent.done());
  CHECK(tm.size() == 2);
  w.t.gate.set();
  w.run();
  CHECK(joined.returned == 0);
  CHECK_FALSE(tm.complete(reply.id(), 1));
  w.run();
  CHECK(joined.returned == 1);
  CHECK_FALSE(joined.error);
}

TEST_CASE("a coroutine of a manager that joins it is told that it would wait for itself") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, managed::join, std::ref(tm), std::ref(w.t));
  w.run();
  CHECK(h.done());
  CHECK(w.t.error == std::errc::resource_deadlock_would_occur);
}

TEST_CASE("what a managed coroutine spawns without saying where has no id, and ends with the manager") {
  managed_world w;
  {
    task_manager tm(w.lp);
    auto parent = spawn(tm, managed::spawn_child, std::ref(w.t));
    w.run();
    CHECK(parent.done());
    CHECK(tm.counts().live == 0);
    CHECK(tm.size() == 1);
  }
  CHECK(w.lp.live() == 1);
  w.run();
  CHECK(w.lp.live() == 0);
  CHECK(w.t.gone == 2);
  CHECK(w.t.returned == 1);
}

TEST_CASE("a running coroutine knows its id") {
  managed_world w;
  task_manager tm(w.lp), other(w.lp);
  task_id told = task_id::none, elsewhere = task_id::none;
  auto h = spawn(tm, managed::ask_id, std::ref(tm), std::ref(told));
  auto stranger = spawn(w.lp, managed::ask_id, std::ref(tm), std::ref(elsewhere));
  auto foreign = spawn(other, managed::ask_id, std::ref(tm), std::ref(elsewhere));
  const task_id id = h.id();
  w.run();
  CHECK(told == id);
  CHECK(elsewhere == task_id::none);
  CHECK(tm.current() == task_id::none);
}

TEST_CASE("what its target stops is stopped, too") {
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, managed::insist, std::ref(w.t));
  w.run();
  w.lp.cancel_all();
  w.run();
  CHECK(h.done());
  CHECK(tm.counts().cancelled == 1);
}

TEST_CASE("kill_all() ends what there is and what comes") {
  trace later;
  managed_world w;
  task_manager tm(w.lp);
  auto h = spawn(tm, managed::stand, std::ref(w.t));
  w.run();
  tm.kill_all();
  auto next = spawn(tm, managed::stand, std::ref(later));
  w.run();
  CHECK(h.done());
  CHECK(w.t.returned == 0);
  CHECK(next.done());
  CHECK(later.begun == 0);
}

TEST_CASE("a manager whose loop stands still leaves what is left to the loop's next turn, or to its end") {
  manual_clock time;
  trace t, other;
  managed_handle<> kept;
  {
    loop lp({.clock = &time});
    {
      task_manager tm(lp);
      kept = spawn(tm, {.within = 1h, .group = 3}, managed::stand, std::ref(t));
      lp.run_for(0s);
    }
    CHECK_FALSE(kept.done());
    lp.run_for(0s);
    CHECK(kept.done());
    CHECK(t.gone == 1);
    task_manager tm(lp);
    kept = spawn(tm, {.within = 1h, .group = 3}, managed::stand, std::ref(other));
    lp.run_for(0s);
  }
  CHECK(other.gone == 1);
  CHECK(kept.done());
}

}  // namespace hocket_test
