// Tasks that read from a wire, by the driver of the newest kind.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/time/within.hpp>

#include "support/readiness_driver.hpp"
#include "unit/runtime/wire.hpp"

#include <doctest/doctest.h>
#include <system_error>

namespace hocket_test {

inline hocket::task<std::error_code> read_one(const wire& from) {
  auto ready = co_await readable(from.fd());
  if (!ready) co_return ready.error();
  CHECK(from.take());
  co_return {};
}

// Takes nothing.
inline hocket::task<std::error_code> read_within(const wire& from, hocket::duration time) {
  auto ready = co_await within(time, readable(from.fd()));
  co_return ready ? std::error_code{} : ready.error();
}

}  // namespace hocket_test
