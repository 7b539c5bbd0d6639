// within: an operation with a deadline.
//
//   auto held = co_await within(50ms, m.lock());               // result<guard>; std::errc::timed_out after 50 ms
//   auto n = await(within(deadline, handle));                  // a join_handle<int>: result<int>
//   auto got = await(within(1s, select(a.wait(), b.wait())));
//
// The first argument is a duration, counted from the suspension (see below), or a point in time of
// std::chrono::steady_clock. A duration may have any period; if it is too long for the clock, it means "never". A
// negative duration, or a time that has passed, ends the wait at once. But an operation that can complete without
// waiting completes: within(0s, m.lock()) locks a free mutex. Several deadlines, including that of the coroutine's
// context, hold together: the earliest ends the wait.
//
// Start of a duration. A duration never counts from before the suspension, so no wait ends early. A loop or a worker
// reads the machine's clock once per turn. There the duration counts from the next reading, after the other ready work
// of that turn; no wait times out before that reading in any case. With a clock of the program's own it counts at once.
//
// Result. Nothing nests: an operation gives result<T> with and without a deadline. So does a join of a coroutine that
// returns T or result<T>. If a join times out, the coroutine continues, and its handle is unchanged.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/join_handle.hpp>
#include <hocket/core/wait/seam/operation.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <class A, class Rep, class Period>
auto timed(std::chrono::duration<Rep, Period> time, A&& op) {
  return std::move(op).within(to_nanoseconds(time));
}
template <class A, class Clock, class Duration>
auto timed(std::chrono::time_point<Clock, Duration> deadline, A&& op) {
  static_assert(std::is_same_v<Clock, std::chrono::steady_clock>,
                "hocket: a deadline is a point in time of std::chrono::steady_clock: other clocks can be set back; "
                "pass a duration instead");
  return std::move(op).until(deadline_after(time_point{}, deadline.time_since_epoch()));
}

template <class Time>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;
template <class Time>
inline constexpr bool is_time_point = false;
template <class Clock, class Duration>
inline constexpr bool is_time_point<std::chrono::time_point<Clock, Duration>> = true;

// Takes a deadline: an operation, a group (when_all).
template <class A>
concept can_be_timed = !std::is_lvalue_reference_v<A> && requires(A&& a, duration time, time_point deadline) {
  std::move(a).within(time);
  std::move(a).until(deadline);
};

template <class Time>
concept wait_limit = is_duration<Time> || is_time_point<Time>;

}  // namespace detail

// An operation with this deadline in addition to its others.
template <detail::wait_limit Time, primitive::wait_operation Op, class Options>
[[nodiscard]] detail::limited_operation<Op> within(Time limit, primitive::operation<Op, Options>&& op) noexcept {
  static_assert(detail::is_interruptible<Op>,
                "hocket: this wait (a scope's join) cannot be ended by a deadline: give one to the "
                "scope, whose children then end");
  return detail::timed(limit, std::move(op));
}

// The join of a coroutine, with a deadline. The handle must outlive the wait.
template <detail::wait_limit Time, class T>
[[nodiscard]] auto within(Time limit, join_handle<T>& handle, call_site site = this_call_site()) {
  return detail::timed(limit, handle.join(site));
}
template <detail::wait_limit Time, class T>
[[nodiscard]] auto within(Time limit, join_handle<T>&& handle, call_site site = this_call_site()) {
  return detail::timed(limit, handle.join(site));
}

// A group: the deadline holds for all waits of its children. A when_all then gives a result. The other groups give what
// they give without a deadline; timed_out is the error of a child.
template <detail::wait_limit Time, detail::can_be_timed A>
[[nodiscard]] auto within(Time limit, A&& group) {
  return detail::timed(limit, std::move(group));
}

// Rejects a foreign awaitable, which takes no deadline. (A task: coro/timeout_task.hpp.)
template <detail::wait_limit Time, class A>
  requires(!detail::can_be_timed<A>)
void within(Time, A&&) {
  static_assert(
      detail::can_be_timed<A>,
      "hocket: within() takes an operation (m.lock(), a select), a join_handle, or (with coro/timeout_task.hpp) an "
      "rvalue task. What is foreign has no wait that could be ended: spawn what awaits it, and say within(limit, "
      "handle)");
}

}}  // namespace hocket
