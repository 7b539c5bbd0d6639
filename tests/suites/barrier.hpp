// The barrier, for every kind.
#pragma once
#include <hocket/sync/barrier.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

namespace hocket_test {

template <class Kind>
using barrier_of = hocket::basic_barrier<typename Kind::strength>;

TEST_CASE_TEMPLATE("phase after phase, all parties of a barrier go on together, and one is told that it came last",
                   Kind, HOCKET_SUITE_KINDS) {
  constexpr int parties = 4;
  constexpr std::size_t phases = 6;
  barrier_of<Kind> barrier(parties);
  std::atomic<int> come[phases]{}, lasts[phases]{};
  Kind world;
  auto take_part = [&]() -> typename Kind::body {
    for (std::size_t phase = 0; phase < phases; ++phase) {
      ++come[phase];
      auto met = co_await barrier.arrive_and_wait();
      CHECK(met.has_value());
      CHECK(come[phase] == parties);
      if (met->last) ++lasts[phase];
    }
  };
  std::vector<int> all;
  for (int i = 0; i < parties; ++i) all.push_back(world.start(take_part));
  world.settle();
  for (int one : all) CHECK(world.ended(one) == fate::ended);
  for (auto& last : lasts) CHECK(last == 1);
}

TEST_CASE_TEMPLATE("an arrival that does not wait counts, and may end the phase", Kind, HOCKET_SUITE_KINDS) {
  barrier_of<Kind> barrier(3);
  std::atomic<int> through{0}, lasts{0};
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto met = co_await barrier.arrive_and_wait();
    CHECK(met.has_value());
    ++through;
    if (met->last) ++lasts;
  };
  world.start(wait);
  world.settle();
  CHECK_FALSE(barrier.arrive().last);
  world.settle();
  CHECK(through == 0);
  CHECK(barrier.arrive().last);
  world.settle();
  CHECK(through == 1);
  CHECK(lasts == 0);
  CHECK_FALSE(barrier.arrive().last);
  CHECK_FALSE(barrier.arrive().last);
  world.start(wait);
  world.settle();
  CHECK(through == 2);
  CHECK(lasts == 1);
}

TEST_CASE_TEMPLATE("who drops out of a barrier is not waited for any more", Kind, HOCKET_SUITE_KINDS) {
  barrier_of<Kind> barrier(3);
  std::atomic<int> through{0};
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto met = co_await barrier.arrive_and_wait();
    CHECK(met.has_value());
    ++through;
  };
  world.start(wait);
  world.settle();
  CHECK_FALSE(barrier.arrive_and_drop().last);
  world.settle();
  CHECK(through == 0);
  CHECK(barrier.arrive_and_drop().last);
  world.settle();
  CHECK(through == 1);
  world.start(wait);  // alone by now
  world.settle();
  CHECK(through == 2);
  CHECK(barrier.arrive_and_drop().last);
}

TEST_CASE_TEMPLATE("a wait at a barrier that is ended by others takes its arrival back, and may come again", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  barrier_of<Kind> barrier(5);
  std::vector<std::error_code> ends(4);
  std::atomic<int> through{0};
  Kind world;
  auto wait = [&](std::size_t n, hocket::duration limit) -> typename Kind::body {
    auto met = co_await within(limit, barrier.arrive_and_wait());
    if (met) ++through;
    else ends[n] = met.error();
  };
  int patient = world.start(wait, 0u, hocket::duration::max());
  int cancelled = world.start(wait, 1u, hocket::duration::max());
  int late = world.start(wait, 2u, hocket::duration(5ms));
  int killed = world.start(wait, 3u, hocket::duration(1s));
  world.settle();
  world.cancel(cancelled);
  world.kill(killed);
  world.pass(5ms);
  CHECK(ends[1] == std::errc::operation_canceled);
  CHECK(ends[2] == std::errc::timed_out);
  CHECK(world.ended(late) == fate::ended);
  CHECK(world.ended(killed) == fate::killed);
  // One is there, so four are missing.
  for (int i = 0; i < 3; ++i) CHECK_FALSE(barrier.arrive().last);
  world.settle();
  CHECK(world.ended(patient) == fate::running);
  CHECK(through == 0);
  world.start(wait, 2u, hocket::duration::max());
  world.settle();
  CHECK(through == 2);
  CHECK(world.ended(patient) == fate::ended);
}

TEST_CASE_TEMPLATE("the last at a barrier drops out for one who was killed", Kind, HOCKET_SUITE_KINDS) {
  barrier_of<Kind> barrier(3);
  std::atomic<int> through{0};
  Kind world;
  struct leaves {
    barrier_of<Kind>& from;
    explicit leaves(barrier_of<Kind>& b) : from(b) {}
    leaves(const leaves&) = delete;
    ~leaves() { from.arrive_and_drop(); }
  };
  auto take_part = [&](int phases) -> typename Kind::body {
    leaves at_the_end(barrier);
    for (int i = 0; i < phases; ++i) {
      auto met = co_await barrier.arrive_and_wait();
      if (met) ++through;
    }
  };
  world.start(take_part, 3);
  int victim = world.start(take_part, 3);
  world.settle();
  world.kill(victim);
  world.settle();
  CHECK(world.ended(victim) == fate::killed);
  CHECK(through == 0);
  world.start(take_part, 1);
  world.settle();
  CHECK(through == 4);
}

TEST_CASE_TEMPLATE("who had arrived when the phase ended has passed, though it is cancelled then", Kind,
                   HOCKET_SUITE_KINDS) {
  barrier_of<Kind> barrier(2);
  hocket::basic_event<typename Kind::strength> go;
  int victim = -1;
  std::atomic<bool> passed{false};
  std::error_code after;
  Kind world;
  auto last = [&]() -> typename Kind::body {
    auto set = co_await go.wait();
    CHECK(set.has_value());
    CHECK(barrier.arrive().last);
    world.cancel(victim);
  };
  auto wait = [&]() -> typename Kind::body {
    auto met = co_await barrier.arrive_and_wait();
    passed = met.has_value();
    if constexpr (!takes_turns<Kind>) co_return;  // who goes on at once may come again before it is cancelled
    auto again = co_await barrier.arrive_and_wait();
    if (!again) after = again.error();
  };
  world.start(last);
  victim = world.start(wait);
  world.settle();
  go.set();
  world.settle();
  CHECK(passed);
  if constexpr (takes_turns<Kind>) CHECK(after == std::errc::operation_canceled);
  CHECK_FALSE(barrier.arrive().last);
}

TEST_CASE_TEMPLATE("whoever returns last from a barrier may destroy it", Kind, HOCKET_SUITE_KINDS) {
  constexpr int parties = 3;
  auto barrier = std::make_unique<barrier_of<Kind>>(parties);
  std::atomic<int> left{parties};
  Kind world;
  auto take_part = [&]() -> typename Kind::body {
    auto met = co_await barrier->arrive_and_wait();
    CHECK(met.has_value());
    if (--left == 0) barrier.reset();
  };
  for (int i = 0; i < parties; ++i) world.start(take_part);
  world.settle();
  CHECK(barrier == nullptr);
}

}  // namespace hocket_test
