// sleep, usleep, nanosleep, clock_nanosleep, and thrd_sleep of C11.
//
// Sleeps use the clock of the fiber's loop: in a simulation they pass like its other timers.
#include "caller.hpp"
#include "next.hpp"
#include "times.hpp"

#include <algorithm>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

// Returns 0, or an error number; then `remaining` is the time left.
int sleep_for(duration time, duration& remaining) noexcept {
  if (!may_begin()) {
    remaining = time;
    return errno;
  }
  const time_point end = after(time);
  const int error = errno;
  if (wait_until(end) == wait_result::ready) {
    errno = error;
    return 0;
  }
  remaining = std::max<duration>(duration::zero(), end - now());
  return errno;
}

int sleep_for(const timespec& time, timespec* remaining) noexcept {
  if (!is_valid(time)) return EINVAL;
  duration rest{};
  const int error = sleep_for(duration_of(time), rest);
  if (error != 0 && remaining) *remaining = timespec_of(rest);
  return error;
}

// Clocks of processes and threads do not run while a fiber waits.
bool is_of_time(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
}

// Reads the clock once: if the clock is set during the sleep, the sleep does not change.
int sleep_until(clockid_t clock, const timespec& time) noexcept {
  timespec present{};
  if (::clock_gettime(clock, &present) != 0) return errno;
  duration rest{};
  return sleep_for(std::max<duration>(duration::zero(), duration_of(time) - duration_of(present)), rest);
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int nanosleep(const timespec* time, timespec* remaining) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.nanosleep(time, remaining);
  const int error = hook::sleep_for(*time, remaining);
  return error == 0 ? 0 : hook::fail<int>(error);
}
// Returns the error number.
int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* remaining) {
  if (!hook::is_hooked() || !hook::is_of_time(clock)) [[likely]]
    return hook::next.clock_nanosleep(clock, flags, time, remaining);
  if (!hook::is_valid(*time)) return EINVAL;
  return (flags & TIMER_ABSTIME) != 0 ? hook::sleep_until(clock, *time) : hook::sleep_for(*time, remaining);
}
// C11 has two kinds of error: -1 is a signal, after which callers sleep for the time left. A sleep that was ended would
// end again at once, so it is the other kind, as an invalid time is in glibc.
int thrd_sleep(const timespec* time, timespec* remaining) {
  if (!hook::is_hooked()) [[likely]] {
    const int error = hook::next.clock_nanosleep(CLOCK_REALTIME, 0, time, remaining);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
  }
  return hook::sleep_for(*time, remaining) == 0 ? 0 : -2;
}
int usleep(useconds_t microseconds) {
  const timespec time{static_cast<time_t>(microseconds / 1'000'000),
                      static_cast<long>(microseconds % 1'000'000) * 1000};
  return nanosleep(&time, nullptr);
}
// Returns how many seconds are left.
unsigned sleep(unsigned seconds) {
  const timespec time{static_cast<time_t>(seconds), 0};
  timespec remaining{};
  if (nanosleep(&time, &remaining) == 0) return 0;
  return static_cast<unsigned>(remaining.tv_sec) + (remaining.tv_nsec >= 500'000'000 ? 1 : 0);
}

}  // extern "C"
