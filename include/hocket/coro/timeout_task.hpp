// within() of a task: at that time its waits end, also the waits of tasks that it awaits or starts on scopes.
//
//   auto user = co_await or_return(within(200ms, db.user(id)));     // db.user() returns task<result<record>>
//
// It returns a result, like every within(): result<T> for a task<result<T>> and for a task<T>. The task itself decides
// what to do after a wait has timed out: usually it returns the error, as or_return() does. A deadline ends only waits:
// a task that computes goes on. Of several deadlines the earliest holds. A duration counts from the co_await.
//
// Cost: a frame and a context.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/result.hpp>
#include <hocket/core/detail/context_block.hpp>
#include <hocket/coro/task.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// A context for the running task: its deadline is `until`, or `within` from now unless that is duration::max(). Throws
// bad_alloc.
context_ptr limited_context(time_point until, duration within);

template <class T>
struct limited_result {
  using type = result<T>;
};
template <class T>
struct limited_result<result<T>> {
  using type = result<T>;
};

template <class T>
task<typename limited_result<T>::type> await_limited(time_point until, duration within, task<T> what) {
  context_entry entry(limited_context(until, within));
  co_await entry;
  if constexpr (std::is_void_v<T>) {
    co_await std::move(what);
    co_return {};
  } else {
    co_return co_await std::move(what);
  }
}

}  // namespace detail

template <class Rep, class Period, class T>
[[nodiscard]] auto within(std::chrono::duration<Rep, Period> time, task<T>&& what) {
  return detail::await_limited(time_point::max(), detail::to_nanoseconds(time), std::move(what));
}
template <class Duration, class T>
[[nodiscard]] auto within(std::chrono::time_point<std::chrono::steady_clock, Duration> until, task<T>&& what) {
  return detail::await_limited(deadline_after(time_point{}, until.time_since_epoch()), duration::max(),
                               std::move(what));
}

}}  // namespace hocket
