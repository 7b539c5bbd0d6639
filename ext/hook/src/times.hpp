// C times as hocket's.
#pragma once
#include <hocket/base/clock.hpp>

#include <sys/time.h>
#include <time.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

duration duration_of(const timespec& time) noexcept;
duration duration_of(const timeval& time) noexcept;
timespec timespec_of(duration time) noexcept;
// Whether time >= 0 and tv_nsec < 1 s; otherwise the system fails with EINVAL.
bool is_valid(const timespec& time) noexcept;

// Deadlines, counted from now. Null or negative milliseconds: never.
time_point after(duration time) noexcept;
time_point after(const timespec* time) noexcept;
time_point after_milliseconds(int time) noexcept;

// When to try again what no event reports: after 1 ms, 2 ms ... 50 ms.
class growing_pause {
 public:
  time_point end() noexcept;

 private:
  duration next_ = std::chrono::milliseconds(1);
};

}}}  // namespace hocket::hook
