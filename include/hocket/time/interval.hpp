// interval: periodic ticks without drift.
//
//   interval every(10ms);                                // the first tick: 10 ms after the first wait begins
//   auto tick = co_await every.tick();                   // result<void>; a fiber says await(every.tick())
//   interval frames(start, 16ms, missed_ticks::burst);   // at start, start + 16 ms, start + 32 ms ...
//
// Tick n is due n periods after the first one, however long the code between ticks takes and however late a tick is.
// tick() waits for the next tick, and does not suspend if that is due already. missed_ticks says what happens to
// further ticks that are due by then, here with a period of 10, after the tick at 10 and code that takes 35:
//
//   skip    10 45 50 60 70        they are skipped; the next tick is the first in the future (the default)
//   burst   10 45 45 45 50 60     they all follow, without a wait between them
//   delay   10 45 55 65           a tick that is late by a period or more starts a new count
//
// Cancellation. tick() is an operation: it may be cancelled, timed out and selected. If a wait ends without its tick,
// the tick stays due.
//
// Errors. If the period is zero or negative, each tick() fails at once with invalid_argument.
//
// Thread safety. One coroutine or thread at a time uses an interval.
//
// Limits. An interval must outlive the wait for its tick. It uses the clock of the executor's timers: do not take it to
// an executor with another clock. It must not lie on a copied stack (stack_kind::copied): waiting for its tick there is
// fatal. sleep.hpp says what the executor needs, and how late a tick can be.
#pragma once
#include <hocket/time/sleep.hpp>

namespace hocket { inline namespace HOCKET_ABI {

enum class missed_ticks : std::uint8_t { skip, burst, delay };

class interval;

namespace detail {

class ticking {
 public:
  using value_type = void;
  explicit ticking(interval& interval) noexcept : interval_(&interval) {}
  static bool try_now() noexcept { return false; }  // begin() reads the clock
  void begin(suspension& wait, waiter& entry) noexcept;
  result<void> take() noexcept;

 private:
  interval* interval_;
  alarm_storage storage_;
};

}  // namespace detail

class interval {
 public:
  // If the period is too long for the clock, there is no tick.
  template <class Rep, class Period>
  explicit interval(std::chrono::duration<Rep, Period> period, missed_ticks missed = missed_ticks::skip) noexcept
      : interval(detail::to_nanoseconds(period), missed, false, {}) {}

  // The first tick is due at `first`.
  template <class Clock, class Duration, class Rep, class Period>
  interval(std::chrono::time_point<Clock, Duration> first, std::chrono::duration<Rep, Period> period,
           missed_ticks missed = missed_ticks::skip) noexcept
      : interval(detail::to_nanoseconds(period), missed, true, detail::steady_time(first)) {}

  // Waits for the next tick: result<void>.
  [[nodiscard]] primitive::operation<detail::ticking> tick(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::ticking>(std::in_place, site, *this);
  }

  duration period() const noexcept { return period_; }

  // Starts a new count: the next tick is due a period after the first wait for it begins. Not during a wait for a tick.
  void reset() noexcept { begun_ = false; }

 private:
  friend class detail::ticking;
  interval(duration period, missed_ticks missed, bool begun, time_point first) noexcept;
  time_point due(time_point present) noexcept;
  void ticked(time_point present) noexcept;

  duration period_;
  time_point next_;
  missed_ticks missed_;
  bool begun_;  // next_ is the time of the next tick
};

}}  // namespace hocket
