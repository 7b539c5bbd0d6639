// Replies that a task manager expects; see task_manager.hpp.
#pragma once
#include "suites/managed_world.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace hocket_test {

using managed = HOCKET_MANAGED_KIND;

TEST_CASE("a reply reaches whoever expects it, whether it comes before the wait or after") {
  trace first, second;
  managed_world w;
  task_manager tm(w.lp);
  auto early = tm.expect<int>();
  CHECK_FALSE(early.is_ready());
  CHECK(tm.find(early.id())->expected);
  CHECK_FALSE(tm.complete(early.id(), 3));
  CHECK(early.is_ready());
  auto late = tm.expect<int>();
  const task_id late_id = late.id();
  spawn(w.lp, managed::receive, std::move(early), std::ref(first));
  spawn(w.lp, managed::receive, std::move(late), std::ref(second));
  w.run();
  CHECK(first.reply == 3);
  CHECK(second.returned == 0);
  CHECK_FALSE(tm.complete(late_id, 4));
  w.run();
  CHECK(second.reply == 4);
  CHECK(tm.complete(late_id, 5) == std::errc::no_such_process);
  const manager_counts counts = tm.counts();
  CHECK(counts.promised == 2);
  CHECK(counts.completed == 2);
  CHECK(counts.late == 1);
  CHECK(counts.expected == 0);
}

TEST_CASE("a reply may be move-only, nothing or an error; one of another type is not taken") {
  managed_world w;
  task_manager tm(w.lp);
  auto owned = tm.expect<std::unique_ptr<int>>();
  auto word = std::make_unique<std::string>("kept");
  CHECK(tm.complete(owned.id(), std::move(word)) == std::errc::invalid_argument);
  REQUIRE(word);
  CHECK(tm.complete(owned.id()) == std::errc::invalid_argument);
  CHECK_FALSE(tm.complete(owned.id(), std::make_unique<int>(7)));
  auto seven = sync_wait(owned);
  REQUIRE(seven);
  CHECK(**seven == 7);

  auto bare = tm.expect();
  CHECK_FALSE(tm.complete(bare.id()));
  CHECK(sync_wait(bare));

  auto failed = tm.expect<int>();
  CHECK_FALSE(tm.fail(failed.id(), std::make_error_code(std::errc::host_unreachable)));
  CHECK(sync_wait(failed).error() == std::errc::host_unreachable);
  CHECK(sync_wait(failed).error() == std::errc::broken_pipe);  // it was taken
  CHECK(tm.complete(spawn(tm, managed::stand, std::ref(w.t)).id(), 1) == std::errc::invalid_argument);
}

TEST_CASE("an expected reply times out, is cancelled alone, with its group and with all, or is not wanted any more") {
  managed_world w;
  task_manager tm(w.lp);
  auto times_out = tm.expect<int>({.within = 1s});
  auto alone = tm.expect<int>();
  auto grouped = tm.expect<int>({.group = 5});
  task_id dropped;
  {
    auto unwanted = tm.expect<int>({.group = 5});
    dropped = unwanted.id();
  }
  w.run();
  w.pass(1s);
  CHECK(sync_wait(times_out).error() == std::errc::timed_out);
  CHECK_FALSE(tm.cancel(alone.id()));
  CHECK(sync_wait(alone).error() == std::errc::operation_canceled);
  CHECK(tm.cancel_group(5) == 1);
  CHECK(sync_wait(grouped).error() == std::errc::operation_canceled);
  CHECK(tm.complete(dropped, 1) == std::errc::no_such_process);
  auto last = tm.expect<int>();
  tm.cancel_all();
  CHECK(sync_wait(last).error() == std::errc::operation_canceled);
  auto after = tm.expect<int>();
  CHECK(after.id() == task_id::none);
  CHECK(sync_wait(after).error() == std::errc::operation_canceled);
  const manager_counts counts = tm.counts();
  CHECK(counts.expired == 1);
  CHECK(counts.abandoned == 4);
  CHECK(counts.promised == 5);
  CHECK(counts.late == 1);
  CHECK(tm.size() == 0);
}

TEST_CASE("an expectation may be moved, assigned, and outlive its manager") {
  managed_world w;
  expectation<int> kept;
  CHECK_FALSE(kept);
  task_id first;
  {
    task_manager tm(w.lp);
    kept = tm.expect<int>();
    first = kept.id();
    kept = tm.expect<int>();
    CHECK(kept.id() != first);
    CHECK(tm.complete(first, 1) == std::errc::no_such_process);
    CHECK(tm.size() == 1);
  }
  CHECK(sync_wait(kept).error() == std::errc::operation_canceled);
}

TEST_CASE("a wait for a reply that ends by its own deadline leaves the reply") {
  managed_world w;
  task_manager tm(w.lp);
  auto reply = tm.expect<int>();
  const task_id id = reply.id();
  spawn(w.lp, managed::receive_within, std::move(reply), 1s, std::ref(w.t));
  w.run();
  w.pass(1s);
  CHECK(w.t.error == std::errc::timed_out);
  CHECK(w.t.returned == 0);
  CHECK_FALSE(tm.complete(id, 9));
  w.run();
  CHECK(w.t.reply == 9);
}

}  // namespace hocket_test
