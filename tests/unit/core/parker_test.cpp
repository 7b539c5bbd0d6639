#include <hocket/base/clock.hpp>
#include <hocket/core/parker.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;

TEST_CASE("a wake before the park makes it return at once; more of them count as one") {
  futex_parker bed;
  for (int wakes : {1, 3}) {
    for (int i = 0; i < wakes; ++i) bed.wake();
    CHECK(bed.park(time_point::max()));
    CHECK_FALSE(bed.park(time_point::min()));
  }
}

TEST_CASE("a park ends at its time, not before, and is told from a wake") {
  futex_parker bed;
  CHECK_FALSE(bed.park(time_point{}));
  const time_point until = deadline_after(steady_clock().now(), std::chrono::microseconds(100));
  CHECK_FALSE(bed.park(until));
  CHECK(steady_clock().now() >= until);
}

TEST_CASE("a park that ended by the clock leaves a later wake to the next") {
  futex_parker bed;
  CHECK_FALSE(bed.park(time_point{}));
  bed.wake();
  CHECK(bed.park(time_point{}));
}

TEST_CASE("any number of wakers wake one sleeper") {
  constexpr int wakers = 4, rounds = 2'000;
  futex_parker bed;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < wakers; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        done.fetch_add(1, std::memory_order_relaxed);
        bed.wake();
      }
    });
  }
  int woken = 0;
  while (done.load(std::memory_order_relaxed) < wakers * rounds) woken += bed.park(time_point::max());
  for (auto& thread : threads) thread.join();
  CHECK(woken <= wakers * rounds);
  (void)bed.park(time_point::min());
  CHECK_FALSE(bed.park(time_point::min()));
}
