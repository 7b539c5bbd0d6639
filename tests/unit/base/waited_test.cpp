#include <hocket/base/seam/waited.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <ostream>

using namespace hocket;
using namespace hocket_test;

// The frame of an awaiting coroutine keeps the result, even a dropped one.
static_assert(sizeof(waited) == 1 && std::is_trivially_copyable_v<waited>);

TEST_CASE("a waited is a result<void> of a stop or a deadline") {
  CHECK(waited());
  CHECK_FALSE(waited(failure(std::errc::timed_out)));
  CHECK(waited(failure(std::errc::timed_out)).error() == std::errc::timed_out);
  const result<void> cancelled = waited(failure(std::errc::operation_canceled));
  CHECK(cancelled.error() == std::errc::operation_canceled);
  CHECK(result<void>(waited()).has_value());
  CHECK(waited(result<void>()) == waited());
  CHECK(waited(cancelled) == failure(errc::cancelled));
  CHECK(waited() != failure(std::errc::operation_canceled));
  CHECK(waited() == result<void>());
  CHECK(waited().transform([] { return 3; }) == 3);
  CHECK(waited(cancelled).and_then([] { return result<int>(3); }).error() == std::errc::operation_canceled);
  CHECK(waited(cancelled).error_or({}) == std::errc::operation_canceled);
}

TEST_CASE("the value of a waited is nothing, or the exception") {
  waited().value();
  *waited();
  CHECK_THROWS_AS(waited(failure(std::errc::operation_canceled)).value(), hocket::cancelled);
  CHECK_THROWS_AS(waited(failure(std::errc::timed_out)).value(), std::system_error);
  expect_fatal([] { *waited(failure(std::errc::timed_out)); }, "the value of a failed result was used");
  expect_fatal([] { static_cast<void>(waited().error()); }, "error() of a result that holds a value");
}

TEST_CASE("a wait that may be ignored fails by a stop or a deadline only") {
  expect_fatal([] { static_cast<void>(waited(failure(std::errc::io_error))); },
               "a wait that may be ignored failed by itself");
}
