// interval: ticks at equal distances, without drift.
//
//   interval every(10ms);                                // the first tick is 10 ms after it was first waited for
//   auto tick = co_await every.tick();                   // result<void>; a fiber says await(every.tick())
//   interval frames(start, 16ms, missed_ticks::burst);   // at start, start + 16 ms, start + 32 ms ...
//
// Tick number n is due at the time of the first plus n periods, however long the code between two of them takes and
// however late each of them comes. tick() waits for the next one; if that is due already, it does not suspend. What
// becomes of those that are due by then, too, says missed_ticks, here with a period of 10, after the tick at 10 and
// code that takes 35:
//
//   skip    10 45 50 60 70        they are left out; the next is the first that lies ahead (the default)
//   burst   10 45 45 45 50 60     all are made up for, without a wait between them
//   delay   10 45 55 65           one that is late by a period or more is the first of a new count
//
// tick() is an operation: it may be cancelled, timed, selected. A tick that was not received, because its wait ended
// otherwise, stays due. What the executor must have, and what "late" means: sleep.hpp.
//
// A period that is zero or negative gives no ticks, but invalid_argument at once, each time.
//
// Threads: an interval is used by one coroutine or thread at a time. It must outlive the wait for its tick. The time is
// that of the executor's timers: an interval is not to be taken to one that has another clock. It may not lie on a
// copied stack (stack_kind::copied): waiting for its tick there is fatal.
#pragma once
#include <hocket/time/sleep.hpp>

namespace hocket { inline namespace HOCKET_ABI {

enum class missed_ticks : std::uint8_t { skip, burst, delay };

class interval;

namespace detail {

class ticking {
 public:
  using value_type = void;
  explicit ticking(interval& of) noexcept : of_(&of) {}
  static bool try_now() noexcept { return false; }  // begin() asks the clock
  void begin(suspension& wait, waiter& entry) noexcept;
  result<void> take() noexcept;

 private:
  interval* of_;
  alarm_room room_;
};

}  // namespace detail

class interval {
 public:
  // A period that is too long for the clock never ticks.
  template <class Rep, class Period>
  explicit interval(std::chrono::duration<Rep, Period> period, missed_ticks missed = missed_ticks::skip) noexcept
      : interval(detail::to_nanoseconds(period), missed, false, {}) {}

  // With the first tick at `first`.
  template <class Clock, class Duration, class Rep, class Period>
  interval(std::chrono::time_point<Clock, Duration> first, std::chrono::duration<Rep, Period> period,
           missed_ticks missed = missed_ticks::skip) noexcept
      : interval(detail::to_nanoseconds(period), missed, true, detail::steady_time(first)) {}

  // Waits for the next tick: result<void>.
  [[nodiscard]] primitive::operation<detail::ticking> tick(call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::ticking>(std::in_place, at, *this);
  }

  duration period() const noexcept { return period_; }

  // From new on: the next tick is a period after it is first waited for. Not while a wait for one is under way.
  void reset() noexcept { begun_ = false; }

 private:
  friend class detail::ticking;
  interval(duration period, missed_ticks missed, bool begun, time_point first) noexcept;
  time_point due(time_point present) noexcept;
  void ticked(time_point present) noexcept;

  duration period_;
  time_point next_;
  missed_ticks missed_;
  bool begun_;  // next_ says when the next tick is due
};

}}  // namespace hocket
