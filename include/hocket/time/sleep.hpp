// sleep_for, sleep_until: waits for a time.
//
//   co_await sleep_for(10ms);                  // waited: ok when the time has come; a fiber says await(...)
//   co_await sleep_until(next_frame);          // a point in time of std::chrono::steady_clock
//   co_await sleep_for(1min, 5s);              // may be up to 5 s late, see below
//   auto got = co_await select(rx.receive(), sleep_for(1s));
//
// Operations like any other: in tasks, fibers and plain threads, in a select, under a deadline. A sleep whose time has
// come gives ok. If the coroutine is cancelled first, it gives operation_canceled; if a deadline around it comes first
// (within, or that of the context), timed_out. A time that has passed, and a duration that is zero or negative, do not
// suspend, and are no yield: they are ok at once. Durations of any period are taken; what is too long for the clock
// never comes. A duration counts from when the coroutine suspends, or from its executor's next look at the clock, as in
// within.hpp.
//
// A sleep never ends early. It ends on the thread where it began, at its executor's next turn: so it is late by what
// else that thread does, and by what the system takes to wake it. An executor without timers is fatal.
//
// Slack. What may be late says by how much: the time is rounded up to the next multiple of the slack, on the clock of
// the executor, so all sleeps of that slack that end at nearly the same time end at the same time, and the thread wakes
// once for all of them. It is late by less than the slack. A deadline that comes meanwhile ends the sleep all the same.
// Zero or a negative slack is none.
//
// How. The operation has room for an `alarm`, which is both what the timers of the executor know (a timer_node) and
// what the wait is registered with (a wait_source). It is made when the wait begins, and is over with it:
//
//   the time comes     the timers pop the node and call ring(), which grants the waiter
//   the wait is ended  detach() takes the node back; where that fails, it was popped, or will be by its owner: it
//   by others          rings, and grant() finds the wait decided, and drops the hold that keeps the alarm's memory
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/detail/waited.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/timer.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

class alarm final : public wait_source, private timer_node {
 public:
  // `notes_time`: it shall be able to tell when it rang.
  alarm(const char* what, timer_service& timers, bool notes_time) noexcept
      : what_(what), timers_(timers), notes_time_(notes_time) {}

  // Registrar only, once. If `until` is not after `present`, the wait is granted; else the alarm is set.
  void begin(suspension& wait, waiter& entry, time_point present, time_point until) noexcept;

  // The same for a time from now, which is positive.
  void begin(suspension& wait, waiter& entry, duration time) noexcept;

  // After a grant: when that was, by the clock of the timers.
  time_point rang() const noexcept { return when; }

 private:
  static void ring(timer_node& self, timer_call) noexcept;
  static bool may_leave(const timer_node& self, const executor& home) noexcept;
  static void look_ahead(const timer_node& self) noexcept;
  static const timer_kind alarm_kind;
  const char* what() const noexcept override { return what_; }
  [[nodiscard]] bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  // Constant once it is set.
  const char* const what_;
  timer_service& timers_;
  waiter* entry_ = nullptr;
  const bool notes_time_;
  bool never_ = false;  // it is for no time that comes, and the timers do not know of it
};

// Of the executor on which `wait` begins; fatal if it has none.
timer_service& timers_for(const suspension& wait) noexcept;

// In an operation, which is trivially copyable: where its alarm is made when the wait begins.
class alarm_room {
 public:
  alarm& make(const char* what, timer_service& timers, bool notes_time = false) noexcept {
    return *::new (static_cast<void*>(room_)) alarm(what, timers, notes_time);
  }
  alarm& made() noexcept { return *std::launder(reinterpret_cast<alarm*>(room_)); }

 private:
  // Zeros: what is awaited on a stack that moves is searched for addresses of that stack (fiber/await.hpp).
  alignas(alarm) unsigned char room_[sizeof(alarm)] = {};
};

class sleeping {
 public:
  using value_type = void;
  static constexpr bool may_be_ignored = true;

  // Until the later of `until` and `after` from now.
  sleeping(time_point until, duration after, duration slack) noexcept : until_(until), after_(after), slack_(slack) {}
  bool try_now() noexcept { return until_ == time_point::min() && after_ <= duration::zero(); }
  void begin(suspension& wait, waiter& entry) noexcept;
  result<void> take() noexcept { return {}; }

 private:
  time_point until_;
  duration after_;
  duration slack_;
  alarm_room room_;
};

template <class Clock, class Duration>
constexpr time_point steady_time(std::chrono::time_point<Clock, Duration> at) noexcept {
  static_assert(std::is_same_v<Clock, std::chrono::steady_clock>,
                "hocket: a sleep ends at a point in time of std::chrono::steady_clock: other clocks can be set back; "
                "pass a duration instead");
  return deadline_after(time_point{}, at.time_since_epoch());
}

}  // namespace detail

template <class Rep, class Period>
[[nodiscard]] primitive::operation<detail::sleeping> sleep_for(std::chrono::duration<Rep, Period> time,
                                                               call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::sleeping>(std::in_place, at, time_point::min(), detail::to_nanoseconds(time),
                                                duration::zero());
}
template <class Rep, class Period, class OtherRep, class OtherPeriod>
[[nodiscard]] primitive::operation<detail::sleeping> sleep_for(std::chrono::duration<Rep, Period> time,
                                                               std::chrono::duration<OtherRep, OtherPeriod> slack,
                                                               call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::sleeping>(std::in_place, at, time_point::min(), detail::to_nanoseconds(time),
                                                detail::to_nanoseconds(slack));
}

template <class Clock, class Duration>
[[nodiscard]] primitive::operation<detail::sleeping> sleep_until(std::chrono::time_point<Clock, Duration> time,
                                                                 call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::sleeping>(std::in_place, at, detail::steady_time(time), duration::min(),
                                                duration::zero());
}
template <class Clock, class Duration, class Rep, class Period>
[[nodiscard]] primitive::operation<detail::sleeping> sleep_until(std::chrono::time_point<Clock, Duration> time,
                                                                 std::chrono::duration<Rep, Period> slack,
                                                                 call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::sleeping>(std::in_place, at, detail::steady_time(time), duration::min(),
                                                detail::to_nanoseconds(slack));
}

}}  // namespace hocket
