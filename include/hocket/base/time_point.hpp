// The time points and durations of the library: nanoseconds of the machine's monotonic clock.
#pragma once
#include <hocket/base/platform/config.hpp>
#include <chrono>

namespace hocket::inline HOCKET_ABI {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

}  // namespace hocket::inline HOCKET_ABI
