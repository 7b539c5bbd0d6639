// How a coroutine ended, or one of several that were awaited together.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

// A coroutine returned a value, or left by an exception, or was stopped. A member of a group (outcome.hpp) may also
// have given a result that is an error.
enum class outcome_kind : std::uint8_t {
  none,       // it has not ended
  value,      // it returned, or gave a value
  error,      // it gave a result<T> with another error than the following
  exception,  // it left by an exception other than `cancelled`
  cancelled,  // std::errc::operation_canceled, or the exception `cancelled`
  timed_out,  // by its own deadline, or by its group's: std::errc::timed_out
  killed,     // it was killed, and has unwound
  refused     // its target did not take it
};

}}  // namespace hocket
