// sleep_for, sleep_until: wait for a duration, or until a point in time. now: the time.
//
//   co_await sleep_for(10ms);                  // waited: ok after 10 ms; a fiber says await(...)
//   co_await sleep_until(next_frame);          // a point in time of std::chrono::steady_clock
//   co_await sleep_for(1min, 5s);              // may be up to 5 s late, see below
//   auto got = co_await select(rx.receive(), sleep_for(1s));
//
//   const time_point end = now() + 2s;         // a deadline that the program computes
//   while (auto line = co_await within(end, reader.read_line())) use(*line);
//
// Sleeps are operations: they work in tasks, fibers and plain threads, in a select, under a deadline. A time that has
// passed, and a duration that is zero or negative, give ok at once, without a suspension or a yield. A duration may
// have any period; if it is too long for the clock, the sleep never ends by itself. It counts from the suspension, or
// from the executor's next look at the clock, as in within.hpp.
//
// now() is the time of the executor that runs the caller: with a clock of the program's own (manual_clock), that
// clock's. Sleeps and deadlines use the same. On a thread that runs no coroutine, also in a call of blocking(), it is
// the machine's monotonic clock (std::chrono::steady_clock). Any thread.
//
// Errors. operation_canceled: the coroutine was cancelled first. timed_out: a deadline passed first (of within, or of
// the context). An executor without timers is fatal.
//
// Guarantees. A sleep never ends early. It ends on the thread where it began, at the executor's next turn: the other
// work of that thread and the wake-up by the system delay it.
//
// Slack. A sleep with slack may be late by less than its slack. Its end is rounded up to the next multiple of the
// slack, on the executor's clock. So all sleeps with this slack that end at nearly the same time end together, and the
// thread wakes once for all. An earlier deadline ends the sleep all the same. A slack of zero or less is none.
//
// Implementation. The operation has storage for an `alarm`. An alarm is the timer_node that the executor's timers know,
// and the wait_source with which the wait is registered. It is constructed when the wait begins, and its life ends with
// the wait:
//
//   time passes     the timers pop the node and call ring(), which grants the waiter
//   stop, deadline  detach() takes the node back. If that fails, the owner has popped the node, or will pop it: ring()
//                   runs, grant() finds the wait decided, and drops the hold that keeps the alarm's memory
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/waited.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

class alarm final : public wait_source, private timer_node {
 public:
  // `records_time`: fired_at() will be called.
  alarm(const char* description, timer_service& timers, bool records_time) noexcept
      : description_(description), timers_(timers), records_time_(records_time) {}

  // Registrar only, once. Grants the wait if `until` is not after `present`, else sets the alarm.
  void begin(suspension& wait, waiter& entry, time_point present, time_point until) noexcept;

  // Sets the alarm for a positive time from now.
  void begin(suspension& wait, waiter& entry, duration time) noexcept;

  // The time of the grant, by the clock of the timers. After a grant only.
  time_point fired_at() const noexcept { return when; }

 private:
  static void ring(timer_node& self, timer_call) noexcept;
  static bool may_leave(const timer_node& self, const executor& home) noexcept;
  static void prefetch_waiter(const timer_node& self) noexcept;
  static const timer_kind alarm_kind;
  const char* what() const noexcept override { return description_; }
  [[nodiscard]] bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  // Constant after begin().
  const char* const description_;
  timer_service& timers_;
  waiter* entry_ = nullptr;
  const bool records_time_;
  bool never_ = false;  // too late for the clock: the timers do not know the node
};

// The timers of the executor on which `wait` begins. Fatal if it has none.
timer_service& timers_for(const suspension& wait) noexcept;

// Storage for an alarm, in an operation, which is trivially copyable. The alarm is constructed when the wait begins.
class alarm_storage {
 public:
  alarm& make(const char* description, timer_service& timers, bool records_time = false) noexcept {
    return *::new (static_cast<void*>(bytes_)) alarm(description, timers, records_time);
  }
  alarm& get() noexcept { return *std::launder(reinterpret_cast<alarm*>(bytes_)); }

 private:
  // Zeros: an operation on a stack that moves is searched for addresses of that stack (fiber/await.hpp).
  alignas(alarm) unsigned char bytes_[sizeof(alarm)] = {};
};

class sleeping {
 public:
  using value_type = void;
  static constexpr bool may_be_ignored = true;

  // Ends at the later of `until` and now + `after`.
  sleeping(time_point until, duration after, duration slack) noexcept : until_(until), after_(after), slack_(slack) {}
  bool try_now() noexcept { return until_ == time_point::min() && after_ <= duration::zero(); }
  void begin(suspension& wait, waiter& entry) noexcept;
  // The sleep counts from now, also if it begins again.
  void fix_end(suspension& wait) noexcept;
  result<void> take() noexcept { return {}; }

 private:
  time_point until_;
  duration after_;
  duration slack_;
  alarm_storage storage_;
};

template <class Clock, class Duration>
constexpr time_point steady_time(std::chrono::time_point<Clock, Duration> time) noexcept {
  static_assert(std::is_same_v<Clock, std::chrono::steady_clock>,
                "hocket: a sleep ends at a point in time of std::chrono::steady_clock: other clocks can be set back; "
                "pass a duration instead");
  return deadline_after(time_point{}, time.time_since_epoch());
}

}  // namespace detail

// Sleeps for `time`: waited.
template <class Rep, class Period>
[[nodiscard]] primitive::operation<detail::sleeping> sleep_for(std::chrono::duration<Rep, Period> time,
                                                               call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::sleeping>(std::in_place, site, time_point::min(), detail::to_nanoseconds(time),
                                                duration::zero());
}
template <class Rep, class Period, class OtherRep, class OtherPeriod>
[[nodiscard]] primitive::operation<detail::sleeping> sleep_for(std::chrono::duration<Rep, Period> time,
                                                               std::chrono::duration<OtherRep, OtherPeriod> slack,
                                                               call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::sleeping>(std::in_place, site, time_point::min(), detail::to_nanoseconds(time),
                                                detail::to_nanoseconds(slack));
}

// Sleeps until `time`: waited.
template <class Clock, class Duration>
[[nodiscard]] primitive::operation<detail::sleeping> sleep_until(std::chrono::time_point<Clock, Duration> time,
                                                                 call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::sleeping>(std::in_place, site, detail::steady_time(time), duration::min(),
                                                duration::zero());
}
template <class Clock, class Duration, class Rep, class Period>
[[nodiscard]] primitive::operation<detail::sleeping> sleep_until(std::chrono::time_point<Clock, Duration> time,
                                                                 std::chrono::duration<Rep, Period> slack,
                                                                 call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::sleeping>(std::in_place, site, detail::steady_time(time), duration::min(),
                                                detail::to_nanoseconds(slack));
}

inline time_point now() noexcept { return detail::time_here(); }

}}  // namespace hocket
