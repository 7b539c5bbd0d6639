#include "times.hpp"

#include "caller.hpp"

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

namespace {

duration saturated(std::int64_t seconds, std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t most = duration::max().count() / 1'000'000'000 - 1;
  return seconds > most ? duration::max() : duration(seconds * 1'000'000'000 + nanoseconds);
}

}  // namespace

duration duration_of(const timespec& time) noexcept { return saturated(time.tv_sec, time.tv_nsec); }
duration duration_of(const timeval& time) noexcept { return saturated(time.tv_sec, time.tv_usec * 1000); }

timespec timespec_of(duration time) noexcept {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  timespec spec{};
  spec.tv_sec = static_cast<time_t>(whole.count());
  spec.tv_nsec = static_cast<long>((time - whole).count());
  return spec;
}

bool is_valid(const timespec& time) noexcept {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000;
}

time_point after(duration time) noexcept { return deadline_after(now(), time); }
time_point after(const timespec* time) noexcept { return time ? after(duration_of(*time)) : time_point::max(); }
time_point after_milliseconds(int time) noexcept {
  return time < 0 ? time_point::max() : after(std::chrono::milliseconds(time));
}

time_point growing_pause::end() noexcept {
  return after(std::exchange(next_, std::min<duration>(next_ * 2, std::chrono::milliseconds(50))));
}

}}}  // namespace hocket::hook
