// The timed futex wait: never early, never for ever, right at both ends of the clock.
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/atomic.hpp>

#include <cerrno>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;

namespace {

constexpr duration tick{1};

}  // namespace

TEST_CASE("a wait until a time in the past returns at once and says that the time is up") {
  primitive::atomic<std::uint32_t> word{0};
  const time_point zero{};
  for (time_point past : {time_point::min(), time_point::min() + tick, zero - tick, zero, zero + tick,
                          zero + std::chrono::seconds(1), steady_clock().now()}) {
    CHECK_FALSE(detail::futex_wait_until(word, 0, past));
  }
}

TEST_CASE("a wait for a word that has changed returns at once, whatever the time") {
  primitive::atomic<std::uint32_t> word{1};
  for (time_point when : {time_point::min(), time_point{} - tick, time_point{}, time_point::max() - tick,
                          time_point::max() - std::chrono::seconds(1), time_point::max()}) {
    errno = 0;
    CHECK(detail::futex_wait_until(word, 0, when));
    CHECK(errno != EINVAL);  // the kernel looks at the time first
  }
}

TEST_CASE("a timed wait does not end before its time") {
  primitive::atomic<std::uint32_t> word{0};
  for (int round = 0; round < 20; ++round) {
    const time_point until = deadline_after(steady_clock().now(), std::chrono::microseconds(100));
    while (detail::futex_wait_until(word, 0, until)) {
    }
    CHECK(steady_clock().now() >= until);
  }
}

TEST_CASE("a wake ends a timed wait, at any distance of its time") {
  for (time_point far : {time_point::max(), time_point::max() - tick}) {
    primitive::atomic<std::uint32_t> word{0};
    std::thread waker([&] {
      word.store(1);
      detail::futex_wake_all(word);
    });
    bool timed_out = false;
    while (word.load() == 0) timed_out = !detail::futex_wait_until(word, 0, far) || timed_out;
    CHECK_FALSE(timed_out);
    waker.join();
  }
}
