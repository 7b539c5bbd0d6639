// The tables of a task manager (shard.hpp), and requests by id, by group and to all (manager_core.cpp, sweep.cpp),
// under every schedule. A table has a mutex and no lock-free part: these tests ask which steps are under one lock. The
// data of a table is plain, so the checker reports a missing lock by its consequences and not as a data race.
//
// - A value, a cancel and a deadline end a reply once.
// - A coroutine that ends stays until a request by its id is over.
// - A promise or a spawn beside a stop of everything is stopped, too.
// - A place gets a new id for each use. It leaves its group before.
// - A waiter for the end of a coroutine is woken once, or finds the coroutine ended. Then the manager may be freed.
#include "manager/stage.hpp"

#include <optional>

namespace {

using hocket::duration;
using hocket::outcome_kind;
using hocket::stop_level;
using hocket::stop_source;
using hocket::task_group;
using hocket::task_id;
using hocket::time_point;
using hocket::detail::managed_end;
using hocket::model::execution;
using hocket::model::require;
using hocket::primitive::operation;
using hocket_test::kept;
using hocket_test::place;
using hocket_test::reply;
using hocket_test::spawned;
using hocket_test::stage;
using hocket_test::still_clock;
using hocket_test::wait_at;
namespace model = hocket::model;

// A manager with a clock: expire() lets its deadlines pass. A deadline of `now` is due at once.
struct ticked_stage : stage {
  static constexpr duration now{0}, later{10};
  static inline const still_clock clock{};
  ticked_stage() : stage({.clock = &clock}) {}
};

constexpr task_group team{7};

// --- replies

void ended_by_three(execution& run) {
  ticked_stage t;
  reply only;
  only.promise(t.inside, ticked_stage::now);
  run.thread("completes", [&] { only.complete(t.inside); });
  run.thread("cancels", [&] { static_cast<void>(t.inside.stop(only.id, stop_level::cancel)); });
  run.thread("ticks", [&] { static_cast<void>(t.inside.expire()); });
  run.join();
  require(only.ends == 1, "a reply ended twice, or never");
  const auto counts = t.inside.counts();
  require(counts.completed + counts.expired + counts.abandoned == 1 && counts.expected == 0);
  t.end();
}

// The deadline is moved as it passes: it has passed, or it is moved.
void moved_as_it_passes(execution& run) {
  ticked_stage t;
  reply only;
  only.promise(t.inside, ticked_stage::now);
  std::error_code refused;
  run.thread("moves", [&] { refused = t.inside.set_deadline(only.id, time_point(ticked_stage::later)); });
  run.thread("ticks", [&] { static_cast<void>(t.inside.expire()); });
  run.join();
  require(static_cast<bool>(refused) == (only.ends == 1), "a deadline was moved, and has passed");
  if (!refused) only.complete(t.inside);
  t.end();
}

// The deadline passes before the reply is there for others to find, or after that.
void promised_beside_a_tick(execution& run) {
  ticked_stage t;
  reply only;
  run.thread("promises", [&] { only.promise(t.inside, ticked_stage::now); });
  run.thread("ticks", [&] { static_cast<void>(t.inside.expire()); });
  run.join();
  static_cast<void>(t.inside.expire());
  require(only.ends == 1, "a deadline passed unnoticed");
  t.end();
}

void promised_beside_a_stop(execution& run) {
  stage t;
  reply only;
  run.thread("promises", [&] { only.promise(t.inside); });
  run.thread("stops all", [&] { t.inside.stop_all(stop_level::cancel); });
  run.join();
  require(only.ends == 1, "a reply was overlooked, and waits for ever");
  t.end();
}

// --- coroutines

void stopped_beside_the_end(execution& run) {
  stage t;
  spawned one(t.inside);
  run.thread("ends", [&] { one.body->end(); });
  run.thread("cancels", [&] {
    const std::error_code why = t.inside.stop(one.id, stop_level::cancel);
    require(!why || why == std::errc::no_such_process);
  });
  run.thread("stops all", [&] { t.inside.stop_all(stop_level::kill); });
  run.join();
  require(t.inside.counts().returned == 1 && t.inside.counts().live == 0);
  require(t.inside.stop(one.id, stop_level::kill) == std::errc::no_such_process);
  t.end();
}

void spawned_beside_a_stop(execution& run) {
  stage t;
  std::optional<spawned> one;  // its memory is given up by the last of both
  run.thread("spawns", [&] {
    one.emplace(t.inside);
    while (one->body->requested() == stop_level::none) model::pause();
    one->body->end();
  });
  run.thread("stops all", [&] { t.inside.stop_all(stop_level::cancel); });
  run.join();
  t.end();
}

void timed_out_beside_the_end(execution& run) {
  ticked_stage t;
  spawned one(t.inside, {}, ticked_stage::now);
  run.thread("ends", [&] { one.body->end(); });
  run.thread("ticks", [&] { static_cast<void>(t.inside.expire()); });
  run.join();
  t.end();
}

// The waiter releases the manager. The coroutine may outlive the manager.
void told_of_the_end(execution& run) {
  stage t;
  kept<stop_source> stop;
  place mortal(&*stop);
  spawned one(t.inside);
  run.thread("ends", [&] { one.body->end(); });
  run.thread("cancels", [&] { stop->request(); });
  run.thread("waits", [&] {
    const auto how = wait_at(mortal, operation<managed_end>(std::in_place, {}, t.inside, one.id));
    if (how) require(*how == outcome_kind::value);
    else require(how.error() == std::errc::operation_canceled || how.error() == std::errc::no_such_process);
    t.inside.release();
  });
  run.join();
  stop.free();
  t.end();
}

// --- places and groups

// One place, which is free, or is used by another meanwhile.
void used_again(execution& run) {
  stage t;
  reply first, second;
  first.promise(t.inside, duration::max(), team);
  run.thread("ends", [&] { first.complete(t.inside); });
  run.thread("begins", [&] { second.promise(t.inside, duration::max(), team); });
  run.thread("is late", [&] { first.complete(t.inside); });
  run.join();
  require(first.id != second.id, "two have one id");
  require(first.ends == 1 && second.ends == 0, "an id led to another's reply");
  require(t.inside.group_size(team) == 1);
  require(second.complete(t.inside) && t.inside.group_size(team) == 0);
  t.end();
}

// Of a group one ends and one begins as all are stopped.
void group_beside_its_members(execution& run) {
  stage t;
  reply first, second, third;
  first.promise(t.inside, duration::max(), team);
  second.promise(t.inside, duration::max(), team);
  run.thread("ends", [&] { first.complete(t.inside); });
  run.thread("begins", [&] { third.promise(t.inside, duration::max(), team); });
  run.thread("stops the group", [&] { static_cast<void>(t.inside.stop_group(team, stop_level::cancel)); });
  run.join();
  require(first.ends == 1 && second.ends == 1, "a member was overlooked, or ended twice");
  third.complete(t.inside);  // if it came after the stop
  require(third.ends == 1);
  require(t.inside.group_size(team) == 0, "a group has a member that has ended");
  t.end();
}

// No stale reads: other tests prove the reads without a lock.
constexpr model::options bounds{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("a reply ends once, by its value, a cancel or its deadline") { ::verdict::none(bounds, ended_by_three); }

TEST_CASE("a deadline that is moved as it passes has passed, or is moved") {
  ::verdict::none(bounds, moved_as_it_passes);
}

TEST_CASE("a deadline that passes as a reply is promised is noticed") {
  ::verdict::none(bounds, promised_beside_a_tick);
}

TEST_CASE("a promise or a spawn beside a stop of everything is stopped, too") {
  ::verdict::none(bounds, promised_beside_a_stop);
  ::verdict::none(bounds, spawned_beside_a_stop);
}

TEST_CASE("a coroutine that is stopped by id or by its deadline as it ends stays until the request is over") {
  ::verdict::none(bounds, stopped_beside_the_end);
  ::verdict::none(bounds, timed_out_beside_the_end);
}

TEST_CASE("a waiter for the end of a coroutine is woken once, and may free the manager then") {
  ::verdict::none(bounds, told_of_the_end);
}

TEST_CASE("a place is used again under another id, when it has left its group") { ::verdict::none(bounds, used_again); }

TEST_CASE("a stop of a group reaches every member, while others leave and join") {
  ::verdict::none(bounds, group_beside_its_members);
}
