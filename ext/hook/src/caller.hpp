// Who makes a call, and how a hooked fiber waits in it.
//
// A scope marks the control block of its fiber. So a call asks two words: the fiber that runs on this thread, and its
// mark. An eager body has no fiber of its own; it calls as the thread does.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/detail/atomic.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/hook/hook.hpp>

#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <span>

namespace hocket::inline HOCKET_ABI::hook {

// Whether any scope of the process says when its fiber may park.
extern primitive::atomic<bool> some_ask_may_park;
[[gnu::cold]] bool innermost_lets_park() noexcept;

inline bool may_park() noexcept {
  // ORDER: relaxed, pairs with the store in scope::scope(), which is this thread's if the scope is this fiber's.
  return !some_ask_may_park.load(std::memory_order_relaxed) || innermost_lets_park();
}

inline bool is_hooked() noexcept {
  const auto* thread = static_cast<const hocket::detail::fiber_thread*>(
      hocket::detail::in_current_slot<hocket::detail::thread_slot::fiber>());
  return thread && thread->running && (thread->running->header.reserved & hocket::detail::hook_bit::hooked) != 0 &&
         !hocket::detail::this_thread().eager && may_park();
}

// At the begin of each hooked call: spends the budget. False: the call ends with errno.
bool may_begin() noexcept;
// For tests, which end a fiber at each of its calls: called first. Null: nothing is.
using call_seam = void (*)();
extern call_seam at_each_call;
// The fiber must not wait now; see hook.hpp.
bool only_tries() noexcept;

enum class wait_result { ready, late, ended };  // ended: by errno
// Parks the fiber until the system tells of one of those events (of poll(2)), or until `limit`.
wait_result wait_for(int number, short events, time_point limit) noexcept;
// The same for any of several, with what there is.
wait_result wait_for(std::span<pollfd> numbers, time_point limit) noexcept;
// Until then.
wait_result wait_until(time_point limit) noexcept;

time_point now() noexcept;

// How the calls end.
template <class T>
T fail(int error) noexcept {
  errno = error;
  return static_cast<T>(-1);
}

// What call() gives. If it is no error, errno stays as it was: libraries look at it after a call that gave 0.
template <class Call>
auto quietly(Call call) noexcept -> decltype(call()) {
  const int kept = errno;
  const auto got = call();
  if (got >= 0) errno = kept;
  return got;
}

// Whether the system said that the call would block.
inline bool would_block() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK; }

// Runs it on a thread of the pool. False: it did not run, for errno.
bool run_on_pool(void (*run)(void* with), void* with) noexcept;

// Gives what f() returns there, and its errno.
template <class F>
auto on_pool(F f) noexcept -> decltype(f()) {
  struct call {
    F& f;
    decltype(f()) got{};
    int error = 0;
  } what{f};
  const bool ran = run_on_pool(
      [](void* with) {
        auto& self = *static_cast<call*>(with);
        errno = 0;
        self.got = self.f();
        self.error = errno;
      },
      &what);
  if (!ran) return static_cast<decltype(f())>(-1);
  errno = what.error;
  return what.got;
}

}  // namespace hocket::inline HOCKET_ABI::hook
