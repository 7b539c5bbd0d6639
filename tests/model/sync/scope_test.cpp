// The count of a scope (coro/scope.cpp) under every schedule: the join ends when the last child has left, with the
// children that children spawn, and the scope may then be destroyed or used again. And a cancel by another thread,
// which ends the children, and with them the scope. And daemons, which are cancelled when the other children have
// ended.
#include <hocket/coro/scope.hpp>
#include <hocket/sync/event.hpp>

#include "sync/waits.hpp"

namespace {

using hocket::scope;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::place;
using hocket_test::wait_at;
using ::verdict::unneeded_in;
namespace model = hocket::model;

// A scope with threads as its children: enroll() is the spawn, leave() the end.
struct stage {
  place where;
  kept<scope> all;
  var<int> first{0, "first"}, second{0, "second"};

  stage() : all((where.enter(), hocket::scope_options{})) {}

  void enroll() { require(!all->enroll(1)); }
  void join(int ended_first, int ended_second) {
    require(wait_at(where, all->join({})).has_value());
    require(first == ended_first && second == ended_second, "a join ended before the children did");
  }
};

void joined_and_destroyed(execution& run) {
  stage on;
  on.enroll();
  on.enroll();
  run.thread("first", [&] {
    on.first = 1;
    on.all->leave();
  });
  run.thread("second", [&] {
    on.second = 1;
    on.all->leave();
  });
  run.thread("joins", [&] {
    on.join(1, 1);
    on.all.free();
  });
  run.join();
}

void child_of_a_child(execution& run) {
  stage on;
  on.enroll();
  run.thread("first", [&] {
    on.enroll();
    on.first = 1;
    on.all->leave();
    on.second = 1;
    on.all->leave();
  });
  run.thread("joins", [&] {
    on.join(1, 1);
    on.all.free();
  });
  run.join();
}

void used_again(execution& run) {
  stage on;
  on.enroll();
  var<int> again{0, "again"};
  run.thread("first", [&] {
    on.first = 1;
    on.all->leave();
  });
  run.thread("joins", [&] {
    on.join(1, 0);
    on.enroll();
    on.second = 1;
    on.all->leave();
    on.join(1, 1);
    on.all.free();
  });
  run.join();
}

// One child that only a stop ends. `cancels` is what the other thread does; it knows that the child runs.
template <class F>
void ended_by_another_thread(execution& run, F cancels) {
  stage on;
  hocket::event never;
  place inside(on.all->parent_context().stop());
  on.enroll();
  run.thread("child", [&] {
    require(wait_at(inside, never.wait()).error() == std::errc::operation_canceled);
    on.first = 1;
    on.all->leave();
  });
  run.thread("cancels", [&] { cancels(*on.all); });
  run.thread("joins", [&] {
    on.join(1, 0);
    on.all.free();
  });
  run.join();
}

void cancelled_by_another_thread(execution& run) {
  ended_by_another_thread(run, [](scope& all) { all.cancel(); });
}

// The same without a share of the count: the scope may be gone before all is told.
void stopped_without_a_share(execution& run) {
  ended_by_another_thread(run, [](scope& all) { all.parent_context().stop()->request(hocket::stop_level::cancel); });
}

// Two requests beside each other, one of them a kill, and a scope that has no child and is used again.
void cancelled_while_used_again(execution& run) {
  stage on;
  run.thread("cancels", [&] { on.all->cancel(); });
  run.thread("kills", [&] { on.all->kill(); });
  run.thread("joins", [&] {
    on.join(0, 0);
    on.enroll();
    on.all->leave();
    on.join(0, 0);
  });
  run.join();
  on.where.enter();
  require(on.all->size() == 0, "a share of the count was lost");
  on.all.free();
}

// A daemon of the stage, which a thread ends by hand.
struct daemon {
  hocket::spawn_target& group;
  place where;
  hocket::event never;

  explicit daemon(stage& on) : group(on.all->daemons()), where(group.parent_context().stop()) { enroll(); }
  void enroll() { require(!group.enroll(1)); }
  void wait_for_cancel() { require(wait_at(where, never.wait()).error() == std::errc::operation_canceled); }
};

void daemon_beside_a_child(execution& run) {
  stage on;
  on.enroll();
  daemon ticker(on);
  run.thread("child", [&] {
    on.first = 1;
    on.all->leave();
  });
  run.thread("daemon", [&] {
    ticker.wait_for_cancel();
    require(on.first == 1, "a daemon was cancelled before the last child had ended");
    on.second = 1;
    ticker.group.leave();
  });
  run.thread("joins", [&] {
    on.join(1, 1);
    on.all.free();
  });
  run.join();
}

// As a daemon ends, it spawns a child on the scope, which is drained, and which a request of another thread uses.
void child_of_a_cancelled_daemon(execution& run) {
  stage on;
  daemon ticker(on);
  hocket::event begun;
  place of_child;
  run.thread("daemon", [&] {
    ticker.wait_for_cancel();
    on.first = 1;
    on.enroll();
    begun.set();
    ticker.group.leave();
  });
  run.thread("child", [&] {
    require(wait_at(of_child, begun.wait()).has_value());
    on.all->cancel();
    on.second = 1;
    on.all->leave();
  });
  run.thread("joins", [&] {
    on.join(1, 1);
    on.all.free();
  });
  run.join();
}

// The child of a cancelled daemon spawns another daemon, when the first one has ended or before.
void daemon_after_daemons(execution& run) {
  stage on;
  daemon ticker(on);
  run.thread("first", [&] {
    ticker.wait_for_cancel();
    on.enroll();
    ticker.group.leave();
    daemon last(on);
    on.first = 1;
    on.all->leave();
    last.wait_for_cancel();
    on.second = 1;
    last.group.leave();
  });
  run.thread("joins", [&] {
    on.join(1, 1);
    on.all.free();
  });
  run.join();
}

void daemons_in_a_scope_used_again(execution& run) {
  stage on;
  daemon ticker(on);
  run.thread("daemon", [&] {
    ticker.wait_for_cancel();
    on.first = 1;
    ticker.group.leave();
  });
  run.thread("joins", [&] {
    on.join(1, 0);
    daemon again(on);
    require(!again.group.parent_context().stop()->may_be_requested(), "a daemon begins cancelled");
    again.group.leave();
    on.second = 1;
    on.join(1, 1);
    on.all.free();
  });
  run.join();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a scope is joined when its children have ended, and may be destroyed then") {
  ::verdict::none(bounds, joined_and_destroyed);
}

TEST_CASE("a scope waits for what its children spawn") { ::verdict::none(bounds, child_of_a_child); }

TEST_CASE("a scope that was joined is used again") { ::verdict::none(bounds, used_again); }

TEST_CASE("a cancel of another thread has left the scope when that ends by it") {
  ::verdict::none(bounds, cancelled_by_another_thread);
}

TEST_CASE("a stop that takes no share of a scope's count may find it gone") {
  ::verdict::found(model::bug::data_race, bounds, stopped_without_a_share);
}

TEST_CASE("requests of other threads leave the count of a scope as it was, whenever they come") {
  ::verdict::none(bounds, cancelled_while_used_again);
}

TEST_CASE("a scope cancels its daemons when the other children have ended, and joins them") {
  ::verdict::none(bounds, daemon_beside_a_child);
}

TEST_CASE("a scope waits for what its daemons spawn as they end") {
  ::verdict::none(bounds, child_of_a_cancelled_daemon);
}

TEST_CASE("a daemon that is spawned after the daemons have ended is cancelled, too") {
  ::verdict::none(bounds, daemon_after_daemons);
}

TEST_CASE("the daemons of a scope that is used again begin uncancelled") {
  ::verdict::none(bounds, daemons_in_a_scope_used_again);
}

TEST_CASE("every ordering of a scope's count is needed") {
  auto unneeded = model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, joined_and_destroyed,
                                            used_again, daemon_beside_a_child, daemons_in_a_scope_used_again);
  CHECK(unneeded_in("scope.cpp", unneeded) == "");
}
