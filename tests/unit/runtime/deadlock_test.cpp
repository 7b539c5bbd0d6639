// What a dump says of coroutines that wait for one another.
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/time/within.hpp>

#include "unit/runtime/dump_table.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/ioctl.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

task<> join(join_handle<void>& other) { [[maybe_unused]] auto joined = co_await other.join(); }

// Takes both, and lets the other one run in between.
task<> lock_both(mutex& first, mutex& second) {
  auto one = co_await first.lock();
  co_await yield();
  auto two = co_await second.lock();
}
task<> lock_one(mutex& only) { [[maybe_unused]] auto held = co_await only.lock(); }
task<> lock_one_within(mutex& only) { [[maybe_unused]] auto held = co_await within(1h, only.lock()); }
task<> lock_or_hear(mutex& only, event& bell) {
  [[maybe_unused]] auto first = co_await select(only.lock(), bell.wait());
}

}  // namespace

TEST_CASE("a circle of joins is told") {
  loop lp;
  join_handle<void> one, two, three;
  one = spawn(lp, {.name = "one"}, join, std::ref(two));
  two = spawn(lp, {.name = "two"}, join, std::ref(three));
  three = spawn(lp, {.name = "three"}, join, std::ref(one));
  step_until_quiet(lp);
  const std::string told = deadlocks_in(dump_text(lp));
  CHECK(holds(told, "deadlock: they wait for one another, 3 in a circle\n"));
  CHECK(holds(told, "\"one\" waits for the end of a coroutine, which needs \"two\"\n"));
  CHECK(holds(told, "\"two\" waits for the end of a coroutine, which needs \"three\"\n"));
  CHECK(holds(told, "\"three\" waits for the end of a coroutine, which needs \"one\"\n"));
  one.kill();
  lp.run();
}

TEST_CASE("two circles are told apart, each once") {
  loop lp;
  join_handle<void> a, b, c, d;
  a = spawn(lp, {.name = "a"}, join, std::ref(b));
  b = spawn(lp, {.name = "b"}, join, std::ref(a));
  c = spawn(lp, {.name = "c"}, join, std::ref(d));
  d = spawn(lp, {.name = "d"}, join, std::ref(c));
  step_until_quiet(lp);
  const std::string told = deadlocks_in(dump_text(lp));
  CHECK(count_of(told, "2 in a circle") == 2);
  CHECK(count_of(told, "which needs") == 4);
  a.kill();
  c.kill();
  lp.run();
}

TEST_CASE("a chain that ends is no deadlock") {
  loop lp;
  event bell;
  auto last = spawn(lp, {.name = "last"}, [&]() -> task<> { [[maybe_unused]] auto set = co_await bell.wait(); });
  auto middle = spawn(lp, {.name = "middle"}, join, std::ref(last));
  auto first = spawn(lp, {.name = "first"}, join, std::ref(middle));
  step_until_quiet(lp);
  CHECK(deadlocks_in(dump_text(lp)) == "");
  bell.set();
  lp.run();
}

TEST_CASE("mutexes taken in two orders are told, and who holds each" * doctest::skip(!detail::lock_owners)) {
  loop lp;
  mutex left, right;
  auto one = spawn(lp, {.name = "one"}, lock_both, std::ref(left), std::ref(right));
  auto two = spawn(lp, {.name = "two"}, lock_both, std::ref(right), std::ref(left));
  auto third = spawn(lp, {.name = "third"}, lock_one, std::ref(left));
  step_until_quiet(lp);
  const std::string text = dump_text(lp);
  CHECK(holds(text, "a mutex " + address_of(&right) + ", held by \"two\"\n"));
  CHECK(holds(text, "a mutex " + address_of(&left) + ", held by \"one\"\n"));
  const std::string told = deadlocks_in(text);
  CHECK(holds(told, "\"one\" waits for a mutex, which needs \"two\"\n"));
  CHECK(holds(told, "\"two\" waits for a mutex, which needs \"one\"\n"));
  CHECK(holds(told, "these wait for a coroutine of a circle:\n  \"third\" waits for a mutex, which needs \"one\"\n"));
  two.cancel();
  lp.run();
}

// Two that take two things in two orders.
template <class Thing, class Take>
void expect_circle(Take take, const std::string& what) {
  Thing left, right;
  loop lp;
  auto both = [&](Thing& first, Thing& second) -> task<> {
    auto one = co_await take(first);
    co_await yield();
    auto two = co_await take(second);
  };
  auto one = spawn(lp, {.name = "one"}, both, std::ref(left), std::ref(right));
  auto two = spawn(lp, {.name = "two"}, both, std::ref(right), std::ref(left));
  step_until_quiet(lp);
  const std::string told = deadlocks_in(dump_text(lp));
  CHECK(holds(told, "deadlock: they wait for one another, 2 in a circle\n"));
  CHECK(holds(told, "\"one\" waits for " + what + ", which needs \"two\"\n"));
  CHECK(holds(told, "\"two\" waits for " + what + ", which needs \"one\"\n"));
  two.cancel();
  lp.run();
}

TEST_CASE("monitors entered in two orders are told") {
  expect_circle<monitor>([](monitor& m) { return m.enter(); }, "a monitor");
}

TEST_CASE("shared mutexes locked for writing, and turns that are taken once, in two orders are told" *
          doctest::skip(!detail::lock_owners)) {
  expect_circle<shared_mutex>([](shared_mutex& m) { return m.lock(); }, "a shared mutex");
  expect_circle<once>([](once& o) { return o.enter(); }, "a once");
}

TEST_CASE("a reader that waits for a writer who waits for it is told" * doctest::skip(!detail::lock_owners)) {
  loop lp;
  shared_mutex m;
  join_handle<void> reader;
  auto writer = spawn(lp, {.name = "writer"}, [&]() -> task<> {
    auto held = co_await m.lock();
    [[maybe_unused]] auto joined = co_await reader.join();
  });
  reader = spawn(lp, {.name = "reader"}, [&]() -> task<> { [[maybe_unused]] auto seen = co_await m.lock_shared(); });
  step_until_quiet(lp);
  CHECK(holds(deadlocks_in(dump_text(lp)), "\"reader\" waits for a shared mutex, which needs \"writer\"\n"));
  writer.cancel();
  lp.run();
}

TEST_CASE("a wait that may end otherwise is no deadlock" * doctest::skip(!detail::lock_owners)) {
  loop lp;
  mutex held;
  event bell;
  join_handle<void> timed, choosing;
  auto holder = spawn(lp, {.name = "holder"}, [&]() -> task<> {
    auto mine = co_await held.lock();
    co_await yield();
    [[maybe_unused]] auto first = co_await timed.join();
    [[maybe_unused]] auto second = co_await choosing.join();
  });
  timed = spawn(lp, {.name = "timed"}, lock_one_within, std::ref(held));
  choosing = spawn(lp, {.name = "choosing"}, lock_or_hear, std::ref(held), std::ref(bell));
  step_until_quiet(lp);
  const std::string text = dump_text(lp);
  CHECK(deadlocks_in(text) == "");
  CHECK(holds(text, "held by \"holder\", "));  // and the time that is left
  timed.cancel();
  step_until_quiet(lp);
  CHECK(deadlocks_in(dump_text(lp)) == "");  // holder waits for who chooses
  bell.set();
  lp.run();
}

TEST_CASE("a coroutine whose eager body waits is no deadlock" * doctest::skip(!detail::lock_owners)) {
  loop lp;
  mutex m;
  event bell;
  auto lock_eagerly = [&]() -> eager_task<> {
    [[maybe_unused]] auto set = co_await bell.wait();
    [[maybe_unused]] auto held = co_await m.lock();
  };
  event leave;
  auto holder = spawn(lp, {.name = "holder"}, [&]() -> task<> {
    auto held = co_await m.lock();
    auto body = lock_eagerly();
    [[maybe_unused]] auto left = co_await leave.wait();
    held->unlock();
    co_await std::move(body);
  });
  step_until_quiet(lp);
  bell.set();
  step_until_quiet(lp);
  CHECK(deadlocks_in(dump_text(lp)) == "");
  leave.set();
  lp.run();
}

TEST_CASE("an eager body and its caller may want the same mutex" * doctest::skip(!detail::lock_owners)) {
  loop lp;
  mutex m;
  event leave;
  int locked = 0;
  auto lock_eagerly = [&]() -> eager_task<> {
    auto held = co_await m.lock();
    ++locked;
    [[maybe_unused]] auto left = co_await leave.wait();
  };
  auto caller = spawn(lp, [&]() -> task<> {
    auto body = lock_eagerly();
    {
      auto held = co_await m.lock();
      ++locked;
    }
    co_await std::move(body);
  });
  step_until_quiet(lp);
  CHECK(locked == 1);
  leave.set();
  lp.run();
  CHECK(locked == 2);
}

TEST_CASE("a lock whose holder is gone is nobody's" * doctest::skip(!detail::lock_owners)) {
  loop lp;
  mutex kept;
  mutex::guard in_hand;
  auto taker = spawn(lp, [&]() -> task<> {
    auto mine = co_await kept.lock();
    in_hand = *std::move(mine);
  });
  lp.run();
  auto waits = spawn(lp, {.name = "waits"}, lock_one, std::ref(kept));
  step_until_quiet(lp);
  auto behind = spawn(lp, {.name = "behind"}, join, std::ref(waits));
  step_until_quiet(lp);
  const std::string text = dump_text(lp);
  CHECK_FALSE(holds(text, "held by"));
  CHECK(deadlocks_in(text) == "");
  CHECK(holds(text, "these wait for a holder that has ended or runs elsewhere:\n"));
  CHECK(holds(text, "  \"waits\" waits for a mutex, which no coroutine here holds\n"));
  CHECK(holds(text, "  \"behind\" waits for the end of a coroutine, which needs \"waits\"\n"));
  CHECK_FALSE(holds(text, "of a circle:"));  // that is said of circles
  in_hand.unlock();
  lp.run();
}

TEST_CASE("of a coroutine that is not among them, and is joined, nothing is told") {
  loop lp, other;
  auto far = spawn(other, []() -> task<> { co_return; });
  auto joins = spawn(lp, {.name = "joins"}, join, std::ref(far));
  step_until_quiet(lp);
  CHECK_FALSE(holds(dump_text(lp), "joins\" waits"));
  other.run();
  lp.run();
}

TEST_CASE("of a lock that no scheduled coroutine has, nothing is told") {
  loop lp;
  monitor one;
  auto by_thread = one.try_enter();
  auto waits = spawn(lp, {.name = "waits"}, [&]() -> task<> { [[maybe_unused]] auto in = co_await one.enter(); });
  step_until_quiet(lp);
  CHECK_FALSE(holds(dump_text(lp), "runs elsewhere"));
  by_thread.leave();
  lp.run();
}

// The pipe is full before the circle is written: so it is broken between the look for it and the telling.
TEST_CASE("a circle that another thread breaks during the dump does no harm") {
  loop lp;
  event bell;
  join_handle<void> one, two;
  one = spawn(lp, {.name = "one"}, join, std::ref(two));
  two = spawn(lp, {.name = "two"}, join, std::ref(one));
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const int size = ::fcntl(ends[1], F_SETPIPE_SZ, 4096);
  REQUIRE(size > 0);
  const int many = size / 32;
  for (int i = 0; i < many; ++i)
    static_cast<void>(spawn(lp, [&]() -> task<> { [[maybe_unused]] auto set = co_await bell.wait(); }));
  for (int i = 0; i < many; ++i) lp.step();
  step_until_quiet(lp);
  std::string text;
  std::thread reader([&] {
    for (int there = 0; there < size;) {
      ::ioctl(ends[0], FIONREAD, &there);
      std::this_thread::yield();
    }
    one.kill();
    char part[4096];
    for (ssize_t got; (got = ::read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
  });
  lp.dump(ends[1]);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  CHECK(holds(deadlocks_in(text), "\"one\" waits for the end of a coroutine, which needs \"two\"\n"));
  bell.set();
  lp.run();
}

TEST_CASE("a runtime's dump tells of circles across its workers") {
  join_handle<void> one, two;
  event both;
  auto joins = [&](join_handle<void>& other) -> task<> {
    [[maybe_unused]] auto there = co_await both.wait();
    [[maybe_unused]] auto joined = co_await other.join();
  };
  hocket::runtime rt({.workers = 2});
  one = spawn(rt, {.name = "one"}, joins, std::ref(two));
  two = spawn(rt, {.name = "two"}, joins, std::ref(one));
  both.set();
  std::string told;
  while (told.empty()) told = deadlocks_in(dump_text(rt));
  CHECK(holds(told, "2 in a circle"));
  CHECK(holds(told, "\"one\" waits for the end of a coroutine, which needs \"two\"\n"));
  one.kill();
}
