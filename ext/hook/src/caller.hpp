// Whether a hooked fiber makes a call, and how that fiber waits.
//
// A scope is a slot of its fiber. So a call reads the running fiber of this thread, that fiber's context, and the
// innermost slot there. An eager body has no fiber of its own; its calls are the thread's.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/hook/hook.hpp>
#include <hocket/sync/event.hpp>

#include "marked_sockets.hpp"
#include "scope_access.hpp"

#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Whether the fiber has a scope, which lets it park now.
[[gnu::cold, gnu::noinline]] bool may_park_now() noexcept;

inline bool is_hooked() noexcept {
  const context* const fiber = hocket::detail::running_fiber_context();
  const hocket::detail::coroutine_slot* const slot = fiber ? fiber->slot() : nullptr;
  if (!slot) [[likely]]
    return false;
  return (scope_access::always_parks(*slot) || may_park_now()) && !hocket::detail::this_thread().eager;
}

// The fiber that the calling code belongs to; null in an eager body, in a raw coroutine and on a plain thread.
inline const context* current_fiber() noexcept {
  const context* const fiber = hocket::detail::running_fiber_context();
  return fiber && !hocket::detail::this_thread().eager ? fiber : nullptr;
}

// Each hooked call begins here. Spends the budget. False: the call fails with errno.
bool may_begin() noexcept;
// For tests: each hooked call calls it first. Null: nothing is called.
using call_seam = void (*)();
[[gnu::visibility("hidden")]] extern call_seam at_each_call;
// may_begin() for a call at `fd`. A marked socket refuses the call; a call that is ended before it begins marks its
// socket (marked_sockets.hpp).
bool may_begin(int fd) noexcept;
// Whether the fiber must not wait now; see hook.hpp.
bool only_tries() noexcept;

// late: the call's own limit has passed. ended: the fiber was cancelled or killed, its deadline or the limit of a
// hook::within() has passed, or it must not wait (only_tries()); see errno. failed: see errno.
enum class wait_result { ready, late, ended, failed };
// Parks the fiber until the system reports one of these events of poll(2), or until `limit`.
wait_result wait_for(int fd, short events, time_point limit) noexcept;
// Parks the fiber until one of several fds is ready, and fills in their events.
wait_result wait_for(std::span<pollfd> fds, time_point limit) noexcept;
// Parks the fiber until `limit`.
wait_result wait_until(time_point limit) noexcept;

// Parks the fiber until the event is set. False: it was ended, see errno.
bool wait_until_set(event& awaited) noexcept;

time_point now() noexcept;

template <class T>
T fail(int error) noexcept {
  errno = error;
  return static_cast<T>(-1);
}

// Returns what call() returns. Without an error errno stays as it was: libraries read it after a call that returned 0.
template <class Call>
auto quietly(Call call) noexcept -> decltype(call()) {
  const int error_before = errno;
  const auto result = call();
  if (result >= 0) errno = error_before;
  return result;
}

inline bool would_block() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK; }

// Calls run(with) on a thread of the pool. False: it did not run, see errno.
bool run_on_pool(void (*run)(void* with), void* with) noexcept;

// Calls f() on the pool; returns its result. Without an error errno stays as it was.
template <class F>
auto on_pool(F f) noexcept -> decltype(f()) {
  struct pooled_call {
    F& f;
    decltype(f()) value{};
    int error = 0;
  } job{f};
  const int error_before = errno;
  const bool ran = run_on_pool(
      [](void* with) {
        auto& self = *static_cast<pooled_call*>(with);
        errno = 0;
        self.value = self.f();
        self.error = errno;
      },
      &job);
  if (!ran) return static_cast<decltype(f())>(-1);
  errno = job.value < 0 ? job.error : error_before;
  return job.value;
}

}}}  // namespace hocket::hook
