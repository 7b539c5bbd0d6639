#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/time/interval.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI {

interval::interval(duration period, missed_ticks missed, bool begun, time_point first) noexcept
    : period_(period), next_(first), missed_(missed), begun_(begun) {}

time_point interval::due(time_point present) noexcept {
  if (period_ <= duration::zero()) return present;
  if (!begun_) next_ = deadline_after(present, period_);
  begun_ = true;
  return next_;
}

// The tick was received at `present`. Unsigned, because the lateness of the earliest times exceeds a signed number.
void interval::ticked(time_point present) noexcept {
  const auto period = static_cast<std::uint64_t>(period_.count());
  const auto late = present <= next_ ? 0
                                     : static_cast<std::uint64_t>(present.time_since_epoch().count()) -
                                           static_cast<std::uint64_t>(next_.time_since_epoch().count());
  if (missed_ != missed_ticks::burst && late >= period) {
    const std::uint64_t since = missed_ == missed_ticks::skip ? late % period : 0;
    next_ = present - duration(static_cast<std::int64_t>(since));
  }
  next_ = deadline_after(next_, period_);
}

namespace detail {

void ticking::begin(suspension& wait, waiter& entry) noexcept {
  timer_service& timers = timers_for(wait);
  const time_point present = timers.now();
  storage_.make("a tick", timers, true).begin(wait, entry, present, interval_->due(present));
}

// The tick counts from the time at which the coroutine runs: that can be long after the alarm, if others were ready
// before it. A thread continues at once, and has no timers any more.
result<void> ticking::take() noexcept {
  if (interval_->period() <= duration::zero()) return failure(std::errc::invalid_argument);
  time_point present = storage_.get().fired_at();
  if (executor* current = current_executor()) {
    if (timer_service* timers = current->timers()) present = std::max(present, timers->now());
  }
  interval_->ticked(present);
  return {};
}

}  // namespace detail

}}  // namespace hocket
