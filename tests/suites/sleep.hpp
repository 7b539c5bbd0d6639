// sleep_for, sleep_until and interval, for every kind.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/interval.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <vector>

namespace hocket_test {

TEST_CASE_TEMPLATE("a sleep ends when its time has come, not before", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  std::vector<int> order;
  Kind world;
  auto sleep_by = [&](int n, hocket::duration time) -> typename Kind::body {
    auto slept = co_await hocket::sleep_for(time);
    CHECK(slept.has_value());
    order.push_back(n);
  };
  auto sleep_to = [&](int n, hocket::time_point time) -> typename Kind::body {
    auto slept = co_await hocket::sleep_until(time);
    CHECK(slept.has_value());
    order.push_back(n);
  };
  world.start(sleep_by, 3, hocket::duration(30ms));
  world.start(sleep_by, 1, hocket::duration(10ms));
  world.start(sleep_to, 2, world.now() + 20ms);
  world.settle();
  world.pass(10ms - 1ns);
  CHECK(order.empty());
  world.pass(1ns);
  CHECK(order == std::vector{1});
  world.pass(10ms);
  CHECK(order == std::vector{1, 2});
  world.pass(10ms);
  CHECK(order == std::vector{1, 2, 3});
}

TEST_CASE_TEMPLATE("a time that has passed does not suspend", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  bool other_ran = false;
  Kind world;
  auto sleep = [&]() -> typename Kind::body {
    auto got_1 = co_await hocket::sleep_for(0s);
    CHECK(got_1.has_value());
    auto got_2 = co_await hocket::sleep_for(-1h);
    CHECK(got_2.has_value());
    auto got_3 = co_await hocket::sleep_for(hocket::duration::min(), hocket::duration::max());
    CHECK(got_3.has_value());
    auto got_4 = co_await hocket::sleep_until(world.now());
    CHECK(got_4.has_value());
    auto got_5 = co_await hocket::sleep_until(world.now() - 1ns, 1h);
    CHECK(got_5.has_value());
    auto got_6 = co_await hocket::sleep_until(hocket::time_point::min());
    CHECK(got_6.has_value());
    auto got_7 = co_await hocket::within(0s, hocket::sleep_for(0s));
    CHECK(got_7.has_value());
    CHECK_FALSE(other_ran);
  };
  auto other = [&]() -> typename Kind::body {
    other_ran = true;
    co_return;
  };
  int only = world.start(sleep);
  world.start(other);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(other_ran);
}

TEST_CASE_TEMPLATE("a sleep beyond the clock ends when others end it", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  std::atomic<int> cancelled{0};
  Kind world;
  auto by = [&](auto time) -> typename Kind::body {
    auto slept = co_await hocket::sleep_for(time);
    if (slept.error() == std::errc::operation_canceled) ++cancelled;
  };
  auto to = [&](hocket::time_point time, hocket::duration slack) -> typename Kind::body {
    auto slept = co_await hocket::sleep_until(time, slack);
    if (slept.error() == std::errc::operation_canceled) ++cancelled;
  };
  const int sleepers[] = {
      world.start(by, hocket::duration::max()),
      world.start(by, std::chrono::hours::max()),
      world.start(by, std::chrono::duration<double>(1e300)),
      world.start(to, hocket::time_point::max(), hocket::duration(0)),
      world.start(to, hocket::time_point::max() - 1ns, hocket::duration(1h)),
      world.start(to, world.now() + 1h, hocket::duration::max()),
  };
  world.settle();
  world.pass(24h * 365 * 100);
  for (int one : sleepers) {
    CHECK(world.ended(one) == fate::running);
    world.cancel(one);
  }
  world.settle();
  CHECK(cancelled == 6);
}

TEST_CASE_TEMPLATE("a deadline around a sleep ends it if it comes first", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  std::atomic<int> late{0};
  std::atomic<int> in_time{0};
  Kind world;
  auto sleep = [&](hocket::duration limit, hocket::duration time) -> typename Kind::body {
    auto slept = co_await hocket::within(limit, hocket::sleep_for(time));
    if (slept) ++in_time;
    else if (slept.error() == std::errc::timed_out) ++late;
  };
  world.start(sleep, hocket::duration(5ms), hocket::duration(10ms));
  world.start(sleep, hocket::duration(10ms), hocket::duration(10ms));  // at the same time the sleep's own wins
  world.start(sleep, hocket::duration(20ms), hocket::duration(10ms));
  world.settle();
  world.pass(5ms);
  CHECK(late == 1);
  world.pass(5ms);
  CHECK(in_time == 2);
  CHECK(late == 1);
}

TEST_CASE_TEMPLATE("a sleeper is cancelled, and killed", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  bool went_on = false;
  std::error_code error;
  Kind world;
  auto cancelled = [&]() -> typename Kind::body {
    auto slept = co_await hocket::sleep_for(1h);
    error = slept.error();
  };
  auto killed = [&]() -> typename Kind::body {
    (void)co_await hocket::sleep_for(1h);
    went_on = true;
  };
  int one = world.start(cancelled);
  int other = world.start(killed);
  world.settle();
  world.cancel(one);
  world.kill(other);
  world.settle();
  CHECK(world.ended(one) == fate::ended);
  CHECK(error == std::errc::operation_canceled);
  CHECK(world.ended(other) == fate::killed);
  CHECK_FALSE(went_on);
  world.pass(2h);
}

TEST_CASE_TEMPLATE("a stop after the time has come changes nothing", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  if constexpr (!takes_turns<Kind>) return;  // the timers of several workers: who is stopped may not have been granted
  int slept = 0;
  Kind world;
  auto sleep = [&](hocket::duration time) -> typename Kind::body {
    auto got = co_await hocket::sleep_for(time);
    if (got) ++slept;
  };
  auto stop_all = [&]() -> typename Kind::body {  // is resumed first, when all of them have been granted
    (void)co_await hocket::sleep_for(10ms);
    for (int one = 1; one <= 2; ++one) world.cancel(one);
  };
  world.start(stop_all);
  for (int i = 0; i < 2; ++i) world.start(sleep, hocket::duration(10ms));
  world.settle();
  world.pass(10ms);
  CHECK(slept == 2);
}

TEST_CASE_TEMPLATE("of two sleeps in a select the shorter wins, and an event before both", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  hocket::basic_event<typename Kind::strength> go;
  std::vector<std::size_t> chosen;
  Kind world;
  auto choose = [&](hocket::duration first, hocket::duration second) -> typename Kind::body {
    auto got = co_await select(hocket::sleep_for(first), hocket::sleep_for(second), go.wait());
    chosen.push_back(got->index());
  };
  world.start(choose, hocket::duration(20ms), hocket::duration(10ms));
  world.start(choose, hocket::duration(10ms), hocket::duration(0));
  world.settle();
  CHECK(chosen == std::vector<std::size_t>{1});
  world.pass(10ms);
  CHECK(chosen == std::vector<std::size_t>{1, 1});
  world.start(choose, hocket::duration(10ms), hocket::duration::max());
  world.settle();
  go.set();
  world.settle();
  CHECK(chosen == std::vector<std::size_t>{1, 1, 2});
  world.pass(1h);
}

TEST_CASE_TEMPLATE("sleeps with a slack end together, none early and none later than it", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  record_of<Kind, hocket::duration> late;
  Kind world;
  auto sleep = [&](hocket::duration time) -> typename Kind::body {
    const hocket::time_point due = world.now() + time;
    auto got_8 = co_await hocket::sleep_for(time, 100ms);
    CHECK(got_8.has_value());
    late.push_back(world.now() - due);
  };
  const hocket::duration to_next = 100ms - world.now().time_since_epoch() % 100ms;
  for (auto before : {90ms, 50ms, 1ms, 0ms}) world.start(sleep, to_next + 100ms - before);
  world.start(sleep, to_next + 100ms + 1ns);
  world.settle();
  world.pass(to_next + 100ms - 1ns);
  CHECK(late.empty());
  world.pass(1ns);
  CHECK(late == std::vector<hocket::duration>{90ms, 50ms, 1ms, 0ms});
  world.pass(100ms);
  CHECK(late.size() == 5);
  CHECK(late.back() == 100ms - 1ns);
}

// The intervals lie outside of the bodies, since a copied stack is no place for them.
// What follows: at which times, after the start of the interval, its ticks were received.
template <class Kind>
class tick_log {
 public:
  // Waits for `ticks` of them; after the first, time passes as it does beside code that takes so long.
  std::vector<int> of(hocket::missed_ticks missed, hocket::duration busy, int ticks) {
    using namespace std::chrono_literals;
    times_.clear();
    Kind world;
    const hocket::time_point start = world.now();
    hocket::interval every(10ms, missed);
    auto body = [&]() -> typename Kind::body {
      for (int i = 0; i < ticks; ++i) {
        auto got_9 = co_await every.tick();
        CHECK(got_9.has_value());
        times_.push_back(static_cast<int>((world.now() - start) / 1ms));
        if (i == 0 && busy > 0ns) {
          auto worked = co_await hocket::sleep_for(busy);
          CHECK(worked.has_value());
        }
      }
    };
    int only = world.start(body);
    world.settle();
    for (int i = 0; i < 1000 && world.ended(only) == fate::running; ++i) world.pass(1ms);
    return times_;
  }

 private:
  std::vector<int> times_;
};

TEST_CASE_TEMPLATE("ticks that are received in time keep their distance", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  tick_log<Kind> log;
  for (auto missed : {hocket::missed_ticks::skip, hocket::missed_ticks::burst, hocket::missed_ticks::delay}) {
    CHECK(log.of(missed, 0ms, 4) == std::vector{10, 20, 30, 40});
    CHECK(log.of(missed, 7ms, 4) == std::vector{10, 20, 30, 40});
    CHECK(log.of(missed, 10ms, 4) == std::vector{10, 20, 30, 40});
    CHECK(log.of(missed, 19ms, 4) == std::vector{10, 29, 30, 40});
  }
}

TEST_CASE_TEMPLATE("ticks that were missed are skipped, made up for, or counted anew", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  tick_log<Kind> log;
  CHECK(log.of(hocket::missed_ticks::skip, 35ms, 4) == std::vector{10, 45, 50, 60});
  CHECK(log.of(hocket::missed_ticks::burst, 35ms, 6) == std::vector{10, 45, 45, 45, 50, 60});
  CHECK(log.of(hocket::missed_ticks::delay, 35ms, 4) == std::vector{10, 45, 55, 65});
}

TEST_CASE_TEMPLATE("ticks that came while the executor was held up count as missed", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  std::vector<hocket::duration> times;
  Kind world;
  const hocket::time_point start = world.now();
  hocket::interval every(start + 10ms, 10ms);
  auto body = [&]() -> typename Kind::body {
    for (int i = 0; i < 3; ++i) {
      auto got_10 = co_await every.tick();
      CHECK(got_10.has_value());
      times.push_back(world.now() - start);
    }
  };
  world.start(body);
  world.settle();
  world.pass(35ms);
  CHECK(times == std::vector<hocket::duration>{35ms});
  world.pass(5ms);
  world.pass(10ms);
  CHECK(times == std::vector<hocket::duration>{35ms, 40ms, 50ms});
}

TEST_CASE_TEMPLATE("a tick that was not received stays due", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  std::vector<hocket::duration> times;
  Kind world;
  const hocket::time_point start = world.now();
  hocket::interval every(10ms);
  auto body = [&]() -> typename Kind::body {
    auto got_11 = co_await hocket::within(4ms, every.tick());
    CHECK(got_11.error() == std::errc::timed_out);
    auto got = co_await select(hocket::sleep_for(3ms), every.tick());
    CHECK(got->index() == 0);
    auto got_12 = co_await every.tick();
    CHECK(got_12.has_value());
    times.push_back(world.now() - start);
    every.reset();
    (void)co_await hocket::sleep_for(5ms);
    auto got_13 = co_await every.tick();
    CHECK(got_13.has_value());
    times.push_back(world.now() - start);
  };
  int only = world.start(body);
  world.settle();
  for (int i = 0; i < 30; ++i) world.pass(1ms);
  CHECK(world.ended(only) == fate::ended);
  CHECK(times == std::vector<hocket::duration>{10ms, 25ms});
}

TEST_CASE_TEMPLATE("an interval may begin at any time, with any period", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  bool ticked = false;
  Kind world;
  hocket::interval every(hocket::time_point::min(), 3ns);
  hocket::interval seldom(hocket::time_point::min(), hocket::duration::max());
  hocket::interval at_no_time(hocket::duration::max(), hocket::missed_ticks::burst);
  hocket::interval at_the_end(hocket::time_point::max(), 1ns);
  auto first_of_all = [&]() -> typename Kind::body {
    auto got_14 = co_await every.tick();
    CHECK(got_14.has_value());
    auto got_15 = co_await seldom.tick();
    CHECK(got_15.has_value());
    ticked = true;
  };
  auto never = [&]() -> typename Kind::body {
    auto got_16 = co_await at_no_time.tick();
    CHECK(got_16.error() == std::errc::operation_canceled);
    auto got_17 = co_await hocket::within(1ms, at_the_end.tick());
    CHECK(got_17.error() == std::errc::operation_canceled);
  };
  int one = world.start(first_of_all);
  int other = world.start(never);
  world.settle();
  CHECK(world.ended(one) == fate::ended);
  CHECK(ticked);
  world.pass(24h * 365);
  CHECK(world.ended(other) == fate::running);
  world.cancel(other);
  world.settle();
  CHECK(world.ended(other) == fate::ended);
}

}  // namespace hocket_test
