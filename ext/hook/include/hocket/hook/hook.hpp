// Blocking calls that park a fiber instead of its thread: a database client, a resolver, a whole C library runs
// unchanged in a fiber, and the worker runs other coroutines while the client waits.
//
//   auto row = spawn(rt, hook::hooked(find_user), id);    // find_user() calls libpq, which calls poll(2) and recv(2)
//
//   hook::scope in;                                       // the same for a block
//   PGresult* rows = PQexec(db, "select 1");
//
// A program is hooked by linking it with hocket::hook. Then recv(), poll(), connect(), getaddrinfo() and the other
// calls that docs/blocking-clients.md lists are ours in the whole process, also for shared libraries. Outside of a
// hooked fiber they go on to libc, about ten instructions later.
//
// In a hooked fiber a call is first tried without waiting. If it would block, then the fiber waits and tries again. A
// socket or pipe is never made non-blocking, except around connect(). Files, names and what else knows no readiness go
// to the pool of blocking().
//
// Ends of a wait:
//   cancelled             the call fails with ECANCELED
//   deadline passed       ETIMEDOUT; poll(), select(), epoll_wait(): 0
//   killed                ECANCELED, and so does each further call, until C++ awaits: a kill does not unwind C frames
//   descriptor closed     EBADF, by the hooked close(), dup2(), close_range()
// What was moved is returned: a write() of which a part was written tells how much.
//
// As with every operation of hocket, one call in 256 lets others run though it need not wait; it may fail with
// ECANCELED or ETIMEDOUT then. So hold no mutex of the thread in a hooked call, nor anything else that others on the
// thread need; or make the mutexes the fiber's: hook::scope in({.mutexes = true}).
//
// While the fiber unwinds, in a signal handler, and in dlopen(), a call is tried once and never waits: ECANCELED.
//
// vfork() is fork(), in the whole process. A child by fork() is not hooked: its calls block it.
//
// Not for tasks: they have no stack to park. See docs/blocking-clients.md for the three ways to call a blocking client,
// and for what is not covered.
#pragma once
#include <hocket/fiber/call_on_stack.hpp>
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace hocket::inline HOCKET_ABI::detail {
struct control_block;
}

namespace hocket::inline HOCKET_ABI::hook {

struct options {
  // pthread_mutex_t, and so std::mutex: the fiber owns what it locks, and parks where it must wait. That wait is ended
  // by nothing but the lock: C code does not look whether it has got it. Off, because code that locks a mutex in a
  // scope and leaves it to other code of the thread stops working, and no compiler tells. Once a scope has asked for
  // it, each call of the process looks who makes it. See docs/blocking-clients.md.
  bool mutexes = false;

  // Asked at each call, if set; in signal handlers, too. It makes no hooked call. An inner scope's is asked instead of
  // the outer one's. False: the call blocks the thread, as it does without hooks.
  // For code that waits while it holds what other fibers of the thread take without a hooked call: the lock of an
  // interpreter.
  bool (*may_park)() = nullptr;
};

// Blocking calls of the fiber that runs here park it while this lives. Scopes nest: an inner one has what an outer has,
// unless it says otherwise.
// On a plain thread it does nothing. In a task and in a raw coroutine it is fatal: they cannot park.
// The fiber stays on its thread meanwhile, also if it is migratable: C libraries keep the address of errno.
class [[nodiscard]] scope {
 public:
  explicit scope(const options& with = {});
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

 private:
  friend struct scope_access;

  hocket::detail::stay_here stay_;
  hocket::detail::control_block* const fiber_;  // null: none
  scope* outer_ = nullptr;
  std::uint32_t trying_ = 0;  // calls that must not wait: dlopen()
  bool mutexes_ = false;
  bool (*may_park_)() = nullptr;
};

namespace detail {

template <class F>
struct hooked_call {
  F function;
  options with;

  template <class Self, class... Args>
  static decltype(auto) run(Self&& self, Args&&... args) {
    const scope in(self.with);
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

// A callable for spawn(): `f`, in a scope.
template <class F>
detail::hooked_call<std::decay_t<F>> hooked(F&& f, const options& with = {}) {
  return {std::forward<F>(f), with};
}

// Of the process, since its start. Exact when no hooked fiber runs.
struct statistics {
  std::uint64_t calls;   // by hooked fibers
  std::uint64_t waits;   // that parked
  std::uint64_t pooled;  // that ran on a thread of the pool
};
statistics collect_statistics() noexcept;

}  // namespace hocket::inline HOCKET_ABI::hook
