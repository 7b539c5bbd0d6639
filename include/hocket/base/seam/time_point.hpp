// The time points and durations of the library: nanoseconds of the machine's monotonic clock.
#pragma once
#include <hocket/base/detail/platform/chrono.hpp>
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Every time and every duration of the library is one of these.
using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

}}  // namespace hocket
