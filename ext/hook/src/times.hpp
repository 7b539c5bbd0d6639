// Times of C as those of hocket.
#pragma once
#include <hocket/base/clock.hpp>

#include <sys/time.h>
#include <time.h>

namespace hocket::inline HOCKET_ABI::hook {

duration duration_of(const timespec& time) noexcept;
duration duration_of(const timeval& time) noexcept;
timespec timespec_of(duration time) noexcept;
// Not below zero, and less than a second beside the seconds; else the system says EINVAL.
bool is_valid(const timespec& time) noexcept;

// From now on.
time_point after(duration time) noexcept;
// The same; null or negative milliseconds: never.
time_point after(const timespec* time) noexcept;
time_point after_milliseconds(int time) noexcept;

}  // namespace hocket::inline HOCKET_ABI::hook
