// The time points and durations of the library: nanoseconds of the machine's monotonic clock.
#pragma once
#include <hocket/base/platform/chrono.hpp>
#include <hocket/base/platform/config.hpp>

namespace hocket::inline HOCKET_ABI {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

}  // namespace hocket::inline HOCKET_ABI
