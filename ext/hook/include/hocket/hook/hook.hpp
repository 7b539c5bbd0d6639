// Makes blocking calls park the calling fiber instead of its thread: a database client, a resolver or a whole C library
// runs unchanged in a fiber, and the worker runs other coroutines while the client waits.
//
//   auto row = spawn(rt, hook::hooked(find_user), id);    // find_user() calls libpq, which calls poll(2) and recv(2)
//
//   hook::scope in;                                       // the same for a block
//   PGresult* rows = PQexec(db, "select 1");
//
// Linking a program with hocket::hook replaces recv(), poll(), connect(), getaddrinfo() and the other calls in
// docs/blocking-clients.md, in the whole process and in its shared libraries.
// Cost. Outside of a hooked fiber the replacement jumps to libc after about ten instructions.
//
// In a hooked fiber a call is first tried without blocking. If it would block, the fiber parks and tries again. A
// socket or pipe is never made non-blocking, except around connect(). Calls on files, which have no readiness, run
// on the pool of blocking(), and lookups of names on threads of their own.
//
// The rule. A connection at which a hooked call was ended is in doubt, because an answer may still arrive. From then on
// every transfer on it fails with ECONNABORTED, by whatever fiber or thread, until close(). So a client library takes
// the connection for dead, and a pool that asks the library discards it. A connection is a stream socket that is
// connected or connecting, or was reset; an end of socketpair(2) and a standard stream of the process are none. Other
// waits at the connection are woken, also of plain threads. The peer of a unix connection gets EPIPE when it writes.
//
// Cancellation and other ends of a wait       at a connection                               elsewhere
//   cancelled                                 ECONNABORTED                                  ECANCELED
//   deadline passed                           ETIMEDOUT, then ECONNABORTED                  ETIMEDOUT
//   killed: also each later call until        ECONNABORTED                                  ECANCELED
//   C++ awaits, since a kill does not
//   unwind C frames
//   poll(), select(): each of the three       1 or more: each connection of the set has     ECANCELED
//                                             the events that were asked for, and POLLERR
//   epoll_wait(): each of the three                                                         ECANCELED
//   descriptor closed by the hooked close(), dup2(), close_range()                          EBADF
// If a call has moved bytes, it returns their number: after a partial write, write() returns the number of written
// bytes, and the next call at the connection fails.
// A call that need not wait succeeds, also after a cancel or a deadline.
//
// One call in 256 yields even if it need not wait, like every operation of hocket, and may fail with ECANCELED or
// ETIMEDOUT then.
// Do not hold a thread mutex across a hooked call, or any other resource that other coroutines of the thread need. Or
// let the fiber own its mutexes: hook::scope in({.mutexes = true}).
//
// Limits.
// - While a kill unwinds the fiber, in a signal handler and in dlopen(), a call is tried once. If it would block, it
//   ends as by a cancel. While an ordinary exception unwinds, calls wait: a destructor may roll a transaction back.
// - vfork() acts as fork() in the whole process. A child of fork() is not hooked: its calls block.
// - Tasks cannot be hooked: they have no stack to park.
// docs/blocking-clients.md shows the three ways to call a blocking client, and lists the calls that are not covered.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/result.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/core/join_handle.hpp>
#include <hocket/core/wait/seam/context_block.hpp>
#include <hocket/core/wait/seam/coroutine_slot.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Options for scope.
struct options {
  // Hooks pthread_mutex_t, and so std::mutex: the fiber owns the mutexes that it locks, and parks if a lock must wait.
  // No stop ends that wait, because C code does not check whether it acquired the lock. Off by default: if code locks
  // a mutex in a scope and other code of the thread unlocks it, then it stops working, and no compiler warns. After the
  // first such scope each lock and unlock of the process looks up its caller. See docs/blocking-clients.md.
  bool mutexes = false;

  // If set, each call calls this function, also in a signal handler. If it returns false, the call blocks the thread,
  // as without hooks. It must make no hooked call. An inner scope's function replaces the outer scope's.
  // For code that waits while it holds a lock that other fibers of the thread acquire by an unhooked call, for example
  // an interpreter's lock.
  bool (*may_park)() = nullptr;
};
static_assert(hocket::detail::owns_nothing<options>);

// Hooks the blocking calls of the running fiber for its lifetime: they park the fiber. Scopes nest: an inner scope
// inherits the outer scope's options unless it sets its own.
// On a plain thread a scope does nothing. In a task or a raw coroutine it is fatal: neither can park.
// In a scope even a migratable fiber stays on its thread, because C libraries keep the address of errno.
class [[nodiscard]] scope : private hocket::detail::coroutine_slot {
 public:
  explicit scope(const options& scope_options = {});
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope() = default;

 private:
  friend struct scope_access;

  hocket::detail::thread_pin pin_;
  std::uint32_t trying_ = 0;  // the number of running calls that must not wait: dlopen()
  bool mutexes_ = false;
  bool limit_has_ended_a_wait_ = false;
  bool (*may_park_)() = nullptr;  // null: always
  bool (*may_park_before_fork_)() = nullptr;
  time_point limit_ = time_point::max();  // of a within()
};

namespace detail {

template <class F>
struct hooked_call {
  F function;
  options scope_options;

  template <class Self, class... Args>
  static decltype(auto) run(Self&& self, Args&&... args) {
    const scope in(self.scope_options);
    return std::invoke(std::forward<Self>(self).function, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::invocable<F, Args...>
  decltype(auto) operator()(Args&&... args) && {
    return run(std::move(*this), std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::invocable<F&, Args...>
  decltype(auto) operator()(Args&&... args) & {
    return run(*this, std::forward<Args>(args)...);
  }
};

}  // namespace detail

// Returns a callable for spawn() that calls `f` in a scope.
template <class F>
detail::hooked_call<std::decay_t<F>> hooked(F&& f, const options& scope_options = {}) {
  return {std::forward<F>(f), scope_options};
}

namespace detail {

// The scope of a within(): also a deadline for its block.
class limit_block {
 public:
  explicit limit_block(duration limit);
  bool has_ended_a_wait() const noexcept;

 private:
  explicit limit_block(time_point limit);

  scope scope_;
  hocket::detail::context_block block_;
};

}  // namespace detail

// Calls f() in a scope, with a limit for its waits. Returns the result of f, or timed_out if the limit has ended a
// hooked wait in it: then the connection of that wait is marked, see above. The fiber itself is not late.
//
//   result<rows> found = hook::within(200ms, [&] { return query(db, "select ..."); });     // rows: an owner
//
// f is called at once, on this stack, and must return: the limit ends waits, no computation. If it has passed, then
// each wait in f ends at once, also an await(), which fails with timed_out by itself. If another deadline or a stop of
// the fiber ends a wait, within() returns the result of f. If f returns result<T>, so does within(). An exception of f
// passes. f should return an owner, because its value is destroyed if the limit has ended a wait. On a plain thread
// only await() has the limit. Fatal in a task or a raw coroutine, as scope.
template <class Rep, class Period, std::invocable F>
auto within(std::chrono::duration<Rep, Period> limit, F&& f) {
  using returned = std::invoke_result_t<F>;
  using value = result<typename hocket::detail::joined<returned>::type>;
  const detail::limit_block block(hocket::detail::to_nanoseconds(limit));
  if constexpr (std::is_void_v<returned>) {
    std::invoke(std::forward<F>(f));
    return block.has_ended_a_wait() ? value(failure(errc::deadline_exceeded)) : value();
  } else {
    value found(std::invoke(std::forward<F>(f)));
    return block.has_ended_a_wait() ? value(failure(errc::deadline_exceeded)) : std::move(found);
  }
}

// Counts of the process since its start.
struct statistics {
  std::uint64_t calls;   // calls by hooked fibers
  std::uint64_t waits;   // calls that parked
  std::uint64_t pooled;  // calls that ran on a thread of the pool
};
// Returns the counts. Exact while no hooked fiber runs.
statistics collect_statistics() noexcept;

}}}  // namespace hocket::hook
