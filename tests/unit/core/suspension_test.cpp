// One wait: how it is granted, cancelled, timed out and killed, before and after it is committed, and what becomes of
// what was granted. Everything here is sequential: the races are in tests/model and tests/stress.
#include <hocket/core/context.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/thread/seam/thread_executor.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

#include "support/death.hpp"
#include "unit/core/bare_wait.hpp"
#include "unit/core/permit_source.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr time_point at(int seconds) { return time_point{} + std::chrono::seconds(seconds); }

script take_one(permit_source& source, std::optional<detail::wait_end>& got) { got = co_await source.acquire(); }

// One coroutine that waits for a permit under a stop source and a deadline of 10 s.
struct one_wait {
  hand_timers timers{time_point{}};
  stepped_executor on{&timers};
  stop_source stop;
  context_ptr ctx = context::child_of(context::root(), {.stop = &stop, .deadline = at(10)});
  permit_source source;
  std::optional<detail::wait_end> got;
  script waiting = take_one(source, got);

  void begin() {
    waiting.start(on, ctx.get());
    on.run();
  }
  bool everything_let_go() { return timers.empty() && !source.has_waiters() && !stop_has_nodes(); }
  bool stop_has_nodes() {
    // A second request of a level fires no node, so this asks by the only means there is.
    return stop.requested() == stop_level::none && [this] {
      int before = on.posts();
      stop.request();
      return on.posts() != before;
    }();
  }
};

}  // namespace

TEST_CASE("a permit that is free is taken without suspending") {
  one_wait t;
  t.source.release();
  t.begin();
  CHECK(t.waiting.done());
  CHECK(t.got == detail::wait_end::granted);
  CHECK(t.source.free() == 0);
  CHECK(t.on.posts() == 1);  // the start only
}

TEST_CASE("a grant posts the waiter home, once, and does not run it") {
  one_wait t;
  t.begin();
  CHECK_FALSE(t.got);
  t.source.release();
  CHECK_FALSE(t.got);
  CHECK(t.on.posts() == 2);
  CHECK(t.everything_let_go());
  CHECK(t.on.step());
  CHECK(t.got == detail::wait_end::granted);
  CHECK_FALSE(t.on.step());
  CHECK(t.source.free() == 0);
  CHECK(t.source.passed_on == 0);
}

TEST_CASE("a stop request ends the wait as cancelled, and the next permit is kept") {
  one_wait t;
  t.begin();
  CHECK(t.stop.request());
  CHECK_FALSE(t.got);
  CHECK(t.timers.empty());
  CHECK_FALSE(t.source.has_waiters());
  t.source.release();
  CHECK(t.source.free() == 1);
  t.on.run();
  CHECK(t.got == detail::wait_end::cancelled);
  CHECK(t.on.posts() == 2);
}

TEST_CASE("a kill ends the wait as killed") {
  one_wait t;
  t.begin();
  CHECK(t.stop.request(stop_level::kill));
  t.on.run();
  CHECK(t.got == detail::wait_end::killed);
}

TEST_CASE("the deadline ends the wait as timed out, not before it is due") {
  one_wait t;
  t.begin();
  CHECK(t.timers.fire_due(at(9)) == 0);
  CHECK(t.on.posts() == 1);
  CHECK(t.timers.fire_due(at(10)) == 1);
  CHECK(t.everything_let_go());
  t.on.run();
  CHECK(t.got == detail::wait_end::timed_out);
  CHECK(t.on.posts() == 2);
}

TEST_CASE("a wait whose stop was requested before it began does not suspend") {
  for (stop_level level : {stop_level::cancel, stop_level::kill}) {
    one_wait t;
    t.stop.request(level);
    t.begin();
    CHECK(t.waiting.done());
    CHECK(t.got == detail::end_of(level));
    CHECK(t.on.posts() == 1);
    CHECK(t.timers.empty());
    CHECK_FALSE(t.source.has_waiters());
  }
}

TEST_CASE("a free permit goes before a stop that was requested") {
  // A wait that can be satisfied at once is not a wait: nothing is lost, and the next real wait ends.
  one_wait t;
  t.stop.request();
  t.source.release();
  t.begin();
  CHECK(t.got == detail::wait_end::granted);
}

TEST_CASE("a wait without stop and deadline registers nowhere else") {
  hand_timers timers{time_point{}};
  stepped_executor on(&timers);
  permit_source source;
  std::optional<detail::wait_end> got;
  auto waiting = take_one(source, got);
  waiting.start(on);
  on.run();
  CHECK(timers.empty());
  source.release();
  on.run();
  CHECK(got == detail::wait_end::granted);
}

TEST_CASE("a deadline on an executor without timers is fatal") {
  expect_fatal(
      [] {
        stepped_executor on;
        auto ctx = context::child_of(context::root(), {.deadline = at(1)});
        permit_source source;
        std::optional<detail::wait_end> got;
        auto waiting = take_one(source, got);
        waiting.start(on, ctx.get());
        on.run();
      },
      "a wait has a deadline, but its executor has no timers");
}

TEST_CASE("a grant between the registration and the commit lets the coroutine go straight on") {
  stepped_executor on;
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  permit_source source;
  bare_wait w;
  w.list_at(source, on, ctx.get());
  source.release();
  CHECK(w.wait.decided());
  CHECK(on.posts() == 0);
  CHECK_FALSE(w.wait.commit());
  CHECK(on.posts() == 0);
  CHECK(w.finish() == detail::wait_end::granted);
  CHECK(stop.request());  // nobody is attached: nothing is posted, and the destructor is content
  CHECK(on.posts() == 0);
}

TEST_CASE("an alarm that fires inside of attach is an early decision") {
  struct eager_timers final : detail::timer_service {
    time_point now() const noexcept override { return {}; }
    void attach(detail::timer_node& node) noexcept override { node.fire(detail::timer_call::due); }
    bool detach(detail::timer_node&) noexcept override { return false; }
  } timers;
  stepped_executor on(&timers);
  auto ctx = context::child_of(context::root(), {.deadline = at(1)});
  permit_source source;
  bare_wait w;
  w.list_at(source, on, ctx.get());
  CHECK_FALSE(w.wait.commit());
  CHECK(w.finish() == detail::wait_end::timed_out);
  CHECK_FALSE(source.has_waiters());
  CHECK(on.posts() == 0);
}

TEST_CASE("a popped waiter whose wait was decided already is lost to its source, and posts as the last holder") {
  stepped_executor on;
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  permit_source source;
  bare_wait w;
  w.list_at(source, on, ctx.get());
  REQUIRE(w.wait.commit());
  primitive::waiter* popped = source.pop();
  REQUIRE(popped == &w.entry);
  stop.request();  // wins, but the source still holds the claim
  CHECK(on.posts() == 0);
  CHECK(w.wait.decided());
  CHECK_FALSE(popped->claim_popped());
  CHECK(on.posts() == 1);
  CHECK(w.finish() == detail::wait_end::cancelled);
}

TEST_CASE("a listed waiter whose wait was decided already stays in its list until the winner takes it out") {
  struct slow_source : permit_source {
    bool detach(primitive::waiter& entry) noexcept override {
      CHECK_FALSE(entry.claim());
      return permit_source::detach(entry);
    }
  } source;
  stepped_executor on;
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  bare_wait w;
  w.list_at(source, on, ctx.get());
  REQUIRE(w.wait.commit());
  stop.request(stop_level::kill);
  CHECK_FALSE(source.has_waiters());
  CHECK(on.posts() == 1);
  CHECK(w.finish() == detail::wait_end::killed);
}

TEST_CASE("fault 12: a permit granted to a coroutine that is destroyed before it runs goes to the next") {
  stepped_executor on;
  permit_source source;
  std::optional<detail::wait_end> first_got, second_got;
  auto first = take_one(source, first_got);
  auto second = take_one(source, second_got);
  first.start(on);
  second.start(on);
  on.run();
  source.release();
  detail::runnable* granted = on.take();
  REQUIRE(granted->handle == first.handle());
  first.destroy();
  CHECK(source.passed_on == 1);
  on.run();
  CHECK_FALSE(first_got);
  CHECK(second_got == detail::wait_end::granted);
  CHECK(source.free() == 0);
}

TEST_CASE("fault 12: with nobody next, the permit is free again") {
  stepped_executor on;
  permit_source source;
  std::optional<detail::wait_end> got;
  auto only = take_one(source, got);
  only.start(on);
  on.run();
  source.release();
  REQUIRE(on.take() != nullptr);
  only.destroy();
  CHECK(source.free() == 1);
}

TEST_CASE("a cancelled waiter that is destroyed before it runs passes nothing on") {
  one_wait t;
  t.begin();
  t.stop.request(stop_level::kill);
  REQUIRE(t.on.take() != nullptr);
  t.waiting.destroy();
  CHECK(t.source.passed_on == 0);
  CHECK(t.source.free() == 0);
}

TEST_CASE("fault 13: a cancelled head waiter does not block those behind it") {
  stepped_executor on;
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  permit_source source;
  std::optional<detail::wait_end> first_got, second_got;
  auto first = take_one(source, first_got);
  auto second = take_one(source, second_got);
  first.start(on, ctx.get());
  second.start(on);
  on.run();
  stop.request();
  source.release();
  on.run();
  CHECK(first_got == detail::wait_end::cancelled);
  CHECK(second_got == detail::wait_end::granted);
}

TEST_CASE("waiters are granted in the order of their coming") {
  stepped_executor on;
  permit_source source;
  std::vector<int> order;
  auto numbered = [&](int n) -> script {
    CHECK(co_await source.acquire() == detail::wait_end::granted);
    order.push_back(n);
  };
  std::vector<script> all;
  for (int n : {1, 2, 3}) {
    all.push_back(numbered(n));
    all.back().start(on);
  }
  on.run();
  for (int n = 0; n < 3; ++n) source.release();
  on.run();
  CHECK(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("one awaiter serves one wait after the other") {
  stepped_executor on;
  permit_source source;
  bare_wait w;
  for (int round = 0; round < 3; ++round) {
    w.list_at(source, on);
    REQUIRE(w.wait.commit());
    source.release();
    CHECK(on.take() != nullptr);
    CHECK(w.finish() == detail::wait_end::granted);
  }
}

TEST_CASE("a plain thread waits without a handle") {
  permit_source source;
  primitive::suspension wait;
  primitive::waiter entry;
  detail::thread_executor here;
  std::thread granting;
  {
    detail::running_scope running({&here}, nullptr);
    wait.arm({});
    REQUIRE_FALSE(source.take_or_list(wait, entry));
    granting = std::thread([&] { source.release(); });
  }
  if (wait.commit()) here.run_until_signal();
  CHECK(wait.finish() == detail::wait_end::granted);
  granting.join();
}

TEST_CASE("a wait under sync_wait is granted by another thread, or ended by a stop") {
  permit_source source;
  std::thread granting([&] { source.release(); });
  CHECK(sync_wait(source.acquire()) == detail::wait_end::granted);
  granting.join();

  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  detail::running_scope running({nullptr}, ctx.get());
  std::thread stopping([&] { stop.request(); });
  CHECK(sync_wait(source.acquire()) == detail::wait_end::cancelled);
  stopping.join();
}

TEST_CASE("waiting outside of any executor is fatal") {
  expect_fatal(
      [] {
        primitive::suspension wait;
        wait.arm({});
      },
      "a coroutine waited outside of any executor");
}

TEST_CASE("destroying a coroutine that waits is fatal" * doctest::skip(!detail::debug_checks)) {
  expect_fatal(
      [] {
        stepped_executor on;
        permit_source source;
        std::optional<detail::wait_end> got;
        auto waiting = take_one(source, got);
        waiting.start(on);
        on.run();
        waiting.destroy();
      },
      "a coroutine was destroyed while it waits");
}
