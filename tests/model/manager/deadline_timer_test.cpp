// The deadline timer of a task manager and its count of live coroutines and replies, under every schedule. The whole
// manager_core runs here; the timer and the count are its lock-free parts. shard_test.cpp tests the tables.
//
// - While a coroutine or reply with a deadline is live, the timer is armed for that deadline, or for an earlier one.
// When
//   nothing is live, the timer is idle, and holds nothing.
// - A join ends when the last coroutine has ended, and sees the work of all coroutines.
// - No more are admitted than the limit says, and none after close().
// - manager_core is freed once, after the manager, the joins, the timer, the coroutines and the replies.
//
// Most tests use replies: a reply has a deadline, and ends on any thread.
#include "manager/stage.hpp"

namespace {

using hocket::duration;
using hocket::stop_source;
using hocket::task_id;
using hocket::time_point;
using hocket::detail::managed_join;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::operation;
using hocket_test::kept;
using hocket_test::place;
using hocket_test::reply;
using hocket_test::spawned;
using hocket_test::stage;
using hocket_test::wait_at;
namespace model = hocket::model;

constexpr duration early{10}, late{20}, before_early = early - duration{1};
constexpr duration never = duration::max();

struct timed_stage : stage {
  reply first, second;

  void promise_at_home(reply& target, duration within) {
    hocket::detail::running_scope scope({&*loop}, nullptr);
    target.promise(inside, within);
  }
  // After the threads: the timer has the deadline of the live reply, and no other.
  void expect_kept(duration deadline) {
    settle();
    require(loop->enrolled.load(std::memory_order_acquire) == 1, "the timer is idle before a deadline");
    require(loop->wheel.next_expiry() <= time_point(deadline), "the timer fires too late");
  }
};

// A deadline is set while another reply ends, beside process_due() of the posted timer.
template <const duration& Second>
void beside_turn(execution& run) {
  timed_stage t;
  t.first.promise(t.inside, early);
  run.thread("loop", [&] { t.poll(1); });
  run.thread("ends", [&] { t.first.complete(t.inside); });
  run.thread("begins", [&] { t.second.promise(t.inside, Second); });
  run.join();
  t.expect_kept(Second);
  t.second.complete(t.inside);
  t.end();
}

// The same while it is armed.
template <const duration& Second, bool AtHome>
void beside_rest(execution& run) {
  timed_stage t;
  t.promise_at_home(t.first, early);
  run.thread("loop", [&] {
    hocket::detail::running_scope scope({&*t.loop}, nullptr);
    if (AtHome) t.first.complete(t.inside);
    t.loop->poll();
  });
  if (!AtHome) run.thread("ends", [&] { t.first.complete(t.inside); });
  run.thread("begins", [&] { t.second.promise(t.inside, Second); });
  run.join();
  t.expect_kept(Second);
  t.second.complete(t.inside);
  t.end();
}

// The deadline of a reply is set while the reply ends.
template <bool Turns>
void of_ended(execution& run) {
  timed_stage t;
  t.first.promise(t.inside, Turns ? late : never);
  run.thread("sets", [&] { static_cast<void>(t.inside.set_deadline(t.first.id, time_point(early))); });
  run.thread("ends", [&] { t.first.complete(t.inside); });
  if (Turns) run.thread("loop", [&] { t.poll(1); });
  run.join();
  t.end();
}

// The manager and its last reply end while the timer is posted or armed.
template <bool Armed>
void freed_by_the_last(execution& run) {
  timed_stage t;
  if (Armed) t.promise_at_home(t.first, early);
  else t.first.promise(t.inside, early);
  run.thread("manager", [&] { t.inside.release(); });
  run.thread("ends", [&] { t.first.complete(t.inside); });
  run.thread("loop", [&] { t.poll(2); });
  run.join();
  t.end();
}

// --- the count

operation<managed_join> join(stage& t) { return operation<managed_join>(std::in_place, {}, t.inside); }

// A reply and a coroutine, which end on two threads. A third thread waits for both, and releases the manager.
void joined(execution& run) {
  stage t;
  place where;
  reply first;
  first.promise(t.inside);
  spawned second(t.inside);
  var<int> first_done{0, "first done"}, second_done{0, "second done"};
  run.thread("first", [&] {
    first_done = 1;
    first.complete(t.inside);
  });
  run.thread("second", [&] {
    second_done = 1;
    second.body->end();
  });
  run.thread("joins", [&] {
    require(wait_at(where, join(t)).has_value());
    require(first_done == 1 && second_done == 1, "a join ended before all had ended");
    t.inside.release();
  });
  run.join();
  t.end();
}

// A join that is cancelled as the last one ends, or before.
void cancelled_join(execution& run) {
  stage t;
  kept<stop_source> stop;
  place mortal(&*stop);
  reply only;
  only.promise(t.inside);
  run.thread("ends", [&] { only.complete(t.inside); });
  run.thread("cancels", [&] { stop->request(); });
  run.thread("joins", [&] {
    const auto joined_all = wait_at(mortal, join(t));
    require(joined_all.has_value() || joined_all.error() == std::errc::operation_canceled);
    t.inside.release();
  });
  run.join();
  stop.free();
  t.end();
}

void at_the_limit(execution& run) {
  stage t({.limit = 1});
  reply first, second;
  run.thread("first", [&] { first.promise(t.inside); });
  run.thread("second", [&] { second.promise(t.inside); });
  run.join();
  require((first.id == task_id::none) != (second.id == task_id::none), "the limit is one");
  require(first.ends + second.ends == 1 && t.inside.counts().refused == 1, "one of both was refused");
  require(first.complete(t.inside) != second.complete(t.inside));
  t.end();
}

// A promise before close() is accepted, a later one is refused: none is lost.
void closed_beside_a_promise(execution& run) {
  stage t;
  reply only;
  run.thread("closes", [&] { t.inside.close(); });
  run.thread("promises", [&] { only.promise(t.inside); });
  run.join();
  require(only.complete(t.inside) == (t.inside.counts().refused == 0));
  require(only.ends == 1, "it was lost, or ended twice");
  t.end();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a deadline that is set while the deadline timer fires is kept") {
  ::verdict::none(bounds, beside_turn<late>);
  ::verdict::none(bounds, beside_turn<before_early>);
}

TEST_CASE("a deadline that is set while the deadline timer is disarmed is kept") {
  ::verdict::none(bounds, beside_rest<late, false>);
  ::verdict::none(bounds, beside_rest<late, true>);
  ::verdict::none(bounds, beside_rest<before_early, false>);
}

TEST_CASE("the deadline timer does not stay armed for an ended reply") {
  ::verdict::none(bounds, of_ended<false>);
  ::verdict::none(bounds, of_ended<true>);
}

TEST_CASE("the inside is freed once, by the last") {
  ::verdict::none(bounds, freed_by_the_last<true>);
  ::verdict::none(bounds, freed_by_the_last<false>);
}

TEST_CASE("a join of a manager ends with the last coroutine, and sees the work of all") {
  ::verdict::none(bounds, joined);
}

TEST_CASE("a join of a manager that is cancelled as the last one ends leaves the manager as it was") {
  ::verdict::none(bounds, cancelled_join);
}

TEST_CASE("two that come to the last place of a manager: one is refused") { ::verdict::none(bounds, at_the_limit); }

TEST_CASE("what comes as a manager is closed is in it or refused") { ::verdict::none(bounds, closed_beside_a_promise); }

TEST_CASE("every ordering of the inside of a manager is needed") {
  constexpr model::options few{.preemptions = 1, .stale_reads = 1, .spurious = 0, .weakened = "src/manager/"};
  const auto unneeded =
      model::unneeded_orderings(few, joined, at_the_limit, freed_by_the_last<false>, beside_rest<late, true>);
  CHECK(unneeded == "");
}
