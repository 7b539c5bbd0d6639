#include <hocket/base/clock.hpp>

#include <hocket/base/random.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using hocket_test::expect_fatal;
using namespace std::chrono_literals;

TEST_CASE("the machine's clock never goes back") {
  auto last = steady_clock().now();
  for (int i = 0; i < 1000; ++i) {
    auto next = steady_clock().now();
    CHECK(next >= last);
    last = next;
  }
}

TEST_CASE("a manual clock moves only when told") {
  manual_clock time{time_point{5s}};
  const hocket::clock_source& seam = time;
  CHECK(seam.now() == time_point{5s});
  time.advance(3ms);
  CHECK(seam.now() == time_point{5s + 3ms});
  time.set(time_point{8s});
  CHECK(seam.now() == time_point{8s});
  time.advance(duration::max());
  CHECK(seam.now() == time_point::max());
}

TEST_CASE("a manual clock that goes back is a programming error") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        manual_clock t;
        t.advance(-1ns);
      },
      "a clock never goes back");
  expect_fatal(
      [] {
        manual_clock t{time_point{2s}};
        t.set(time_point{1s});
      },
      "a clock never goes back");
}
