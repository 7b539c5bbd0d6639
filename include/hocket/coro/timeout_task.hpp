// within() of a task: a deadline for all waits of the task.
//
//   auto user = co_await or_return(within(200ms, db.user(id)));     // db.user() returns task<result<record>>
//
// Guarantees.
//   - The deadline ends the waits of the task, of the tasks that it awaits, and of the tasks that it starts on scopes.
//     If there are several deadlines, the earliest applies. A duration counts from the co_await.
//   - within() returns a result<T> for a task<result<T>> and for a task<T>. For a task<T> it never is an error: a wait
//     that has timed out is an error only inside of the task.
//
// Limits. A deadline ends only waits: a task that computes continues. The task itself handles a wait that has timed
// out. Usually it returns the error, as or_return() does.
//
// Cost. A frame and a context.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/result.hpp>
#include <hocket/core/wait/seam/context_block.hpp>
#include <hocket/coro/task.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// A context for the running task: its deadline is `timeout` from now, or `deadline` if `timeout` is duration::max().
// Throws bad_alloc.
context_ptr limited_context(time_point deadline, duration timeout);

template <class T>
struct limited_result {
  using type = result<T>;
};
template <class T>
struct limited_result<result<T>> {
  using type = result<T>;
};

template <class T>
task<typename limited_result<T>::type> await_limited(time_point deadline, duration timeout, task<T> child) {
  context_entry entry(limited_context(deadline, timeout));
  co_await entry;
  if constexpr (std::is_void_v<T>) {
    co_await std::move(child);
    co_return {};
  } else {
    co_return co_await std::move(child);
  }
}

}  // namespace detail

// Awaits a task with a timeout. Throws the exceptions of the task, and bad_alloc.
template <class Rep, class Period, class T>
[[nodiscard]] auto within(std::chrono::duration<Rep, Period> timeout, task<T>&& child) {
  return detail::await_limited(time_point::max(), detail::to_nanoseconds(timeout), std::move(child));
}
// The same with a point in time.
template <class Duration, class T>
[[nodiscard]] auto within(std::chrono::time_point<std::chrono::steady_clock, Duration> deadline, task<T>&& child) {
  return detail::await_limited(deadline_after(time_point{}, deadline.time_since_epoch()), duration::max(),
                               std::move(child));
}

}}  // namespace hocket
