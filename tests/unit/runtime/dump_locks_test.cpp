// The holders that a dump names for a waiting coroutine, beside the holder of a mutex (deadlock_test.cpp): of
// the lock that a condition's wait needs again, of readers, and of permits.
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/condition.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/time/within.hpp>

#include "unit/runtime/dump_table.hpp"

#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// Waits for a condition, with a deadline.
task<> be_told(mutex& m, condition& changed, bool& told) {
  auto held = co_await m.lock();
  auto waited = co_await within(1h, changed.wait(*held));
  told = waited.has_value();
}

// Has the mutex, and joins `other`, which so never gets it again.
task<> lock_and_join(mutex& m, join_handle<void>& other) {
  auto held = co_await m.lock();
  [[maybe_unused]] auto joined = co_await other.join();
}

// `end` ends the wait for the condition: then `waits` needs the mutex of `joins`, and `joins` the end of `waits`.
template <class End>
bool expect_circle_by_relock(End end) {
  bool told = false;
  loop lp;
  mutex m;
  condition changed;
  join_handle<void> waits;
  waits = spawn(lp, {.name = "waits"}, be_told, std::ref(m), std::ref(changed), std::ref(told));
  step_until_quiet(lp);
  auto joins = spawn(lp, {.name = "joins"}, lock_and_join, std::ref(m), std::ref(waits));
  step_until_quiet(lp);
  const std::string before = dump_text(lp);
  CHECK(holds(dump_table(before)["waits"].awaited, "a condition"));
  CHECK(holds(dump_table(before)["waits"].awaited, " left"));
  CHECK(deadlocks_in(before) == "");
  end(changed, waits);
  const std::string after = dump_text(lp);
  CHECK(dump_table(after)["waits"].awaited == "a mutex " + address_of(&m) + ", held by \"joins\"");
  CHECK(holds(deadlocks_in(after), "deadlock: they wait for one another, 2 in a circle\n"));
  CHECK(holds(deadlocks_in(after), "\"waits\" waits for a mutex, which needs \"joins\"\n"));
  CHECK(holds(deadlocks_in(after), "\"joins\" waits for the end of a coroutine, which needs \"waits\"\n"));
  joins.cancel();
  lp.run();
  return told;
}

}  // namespace

TEST_CASE("who was notified of a condition waits for its mutex, and for who has that" *
          doctest::skip(!detail::lock_owners)) {
  CHECK(expect_circle_by_relock([](condition& changed, join_handle<void>&) { CHECK(changed.notify_one()); }));
  CHECK(expect_circle_by_relock([](condition& changed, join_handle<void>&) { CHECK(changed.notify_all() == 1); }));
}

TEST_CASE("so does whose wait for a condition was cancelled" * doctest::skip(!detail::lock_owners)) {
  CHECK_FALSE(expect_circle_by_relock([](condition&, join_handle<void>& waits) { waits.cancel(); }));
}

TEST_CASE("who was notified in a monitor waits for the monitor, and for who is in it") {
  loop lp;
  monitor m;
  event leave;
  auto waits = spawn(lp, {.name = "waits"}, [&]() -> task<> {
    auto in = co_await m.enter();
    [[maybe_unused]] auto told = co_await m.wait(*in);
  });
  step_until_quiet(lp);
  auto stays = spawn(lp, {.name = "stays"}, [&]() -> task<> {
    auto in = co_await m.enter();
    m.notify_one();
    [[maybe_unused]] auto left = co_await leave.wait();
  });
  step_until_quiet(lp);
  const std::string awaited = dump_table(lp)["waits"].awaited;
  CHECK(holds(awaited, "a monitor 0x"));
  CHECK(ends_with(awaited, ", held by \"stays\""));
  leave.set();
  lp.run();
}

TEST_CASE("of a shared mutex the number of its readers is told") {
  loop lp;
  shared_mutex m;
  event leave;
  auto read = [&]() -> task<> {
    auto seen = co_await m.lock_shared();
    [[maybe_unused]] auto left = co_await leave.wait();
  };
  auto writes = [&]() -> task<> { [[maybe_unused]] auto held = co_await m.lock(); };
  auto one = spawn(lp, read);
  step_until_quiet(lp);
  auto writer = spawn(lp, {.name = "writer"}, writes);
  auto late = spawn(lp, {.name = "late"}, read);
  step_until_quiet(lp);
  CHECK(dump_table(lp)["writer"].awaited == "a shared mutex " + address_of(&m) + ", held by 1 reader");
  writer.cancel();
  writer = spawn(lp, {.name = "another"}, writes);
  step_until_quiet(lp);
  CHECK(dump_table(lp)["another"].awaited == "a shared mutex " + address_of(&m) + ", held by 2 readers");
  leave.set();
  lp.run();
}

TEST_CASE("a writer that is none of the loop's coroutines is told as one") {
  loop lp;
  shared_mutex m;
  auto by_thread = m.try_lock();
  auto reader =
      spawn(lp, {.name = "reader"}, [&]() -> task<> { [[maybe_unused]] auto seen = co_await m.lock_shared(); });
  step_until_quiet(lp);
  CHECK(ends_with(dump_table(lp)["reader"].awaited, ", held by 1 writer"));
  by_thread.unlock();
  lp.run();
}

TEST_CASE("of a semaphore the number of permits that are free is told") {
  loop lp;
  semaphore permits(0);
  auto wants =
      spawn(lp, {.name = "wants"}, [&]() -> task<> { [[maybe_unused]] auto had = co_await permits.acquire(3); });
  step_until_quiet(lp);
  const std::string start = "a semaphore " + address_of(&permits) + ", with ";
  CHECK(dump_table(lp)["wants"].awaited == start + "0 permits");
  permits.release();
  CHECK(dump_table(lp)["wants"].awaited == start + "1 permit");
  permits.release(2);
  lp.run();
}
