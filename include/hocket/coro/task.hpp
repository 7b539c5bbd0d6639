// task<T>: a coroutine that starts when it is awaited, and gives its result, once, to whoever awaits it.
//
//   task<int> half(int n) { co_return n / 2; }
//   task<int> quarter(int n) { co_return co_await half(co_await half(n)); }
//   int two = sync_wait(quarter(8));
//
// T is an object type (move-only included), a reference or void. What the body throws is rethrown, the same object, by
// the co_await. A task that was not awaited yet is owned by the task object; the co_await takes it over and destroys
// its frame at the end of the full expression.
//
// Awaiting is a symmetric transfer: the child runs at once on the parent's thread, and when it ends the parent goes on
// where the child ended. So a child shares its parent's executor and context, and no queue is touched.
//
// Depth. g++ without optimisation, and with sanitizers, makes no tail call of a transfer: each one leaves a stack frame
// behind until the coroutines suspend. Therefore a chain carries a budget: every transfer, down to a child or back up to
// a parent, costs one; the one that finds none left goes through the executor's queue instead, which unwinds the stack,
// and fills the budget up. This happens in every build, so that every build behaves alike. Where there is no executor
// there is no queue: a chain that is driven by hand goes on.
//
// Threads: a task has no lock and no atomics. Between two suspensions it belongs to one thread.
//
// Destroying a task before its end destroys its locals, those of the innermost child first. That is for tasks that were
// never awaited, and for chains driven by hand: a task that waits in a queue or in one of hocket's primitives must not
// be destroyed (found at level debug), it is cancelled and awaited. The destruction of a chain of n unfinished tasks
// takes n stack frames.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/coro/detail/task_promise.hpp>
#include <hocket/coro/frame_allocation.hpp>

namespace hocket::inline HOCKET_ABI {

template <class T>
class task;

namespace detail {

template <class>
inline constexpr bool awaited_as_lvalue = false;

// Owns the child from the co_await to the end of its full expression. Movable, with constructors: g++ 11 and 12
// destroy an aggregate temporary of a co_await expression twice.
template <class T>
class task_awaiter {
 public:
  using handle_type = std::coroutine_handle<task_promise<T>>;

  explicit task_awaiter(handle_type child) noexcept : child_(child) {}
  task_awaiter(task_awaiter&& other) noexcept : child_(std::exchange(other.child_, {})) {}
  task_awaiter& operator=(task_awaiter&&) = delete;
  ~task_awaiter() {
    if (!child_) return;
    if constexpr (debug_checks) expect_unqueued(child_.promise());
    child_.destroy();
  }

  static constexpr bool await_ready() noexcept { return false; }

  // A parent whose promise has a header hands its chain on to the child: its context and its budget. A fiber passes
  // its handle as a coroutine_handle<coroutine_header>.
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return child_.promise().start(child_, parent);
  }

  T await_resume() { return child_.promise().take(); }

 private:
  handle_type child_;
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] task {
  static_assert(std::is_void_v<T> || std::is_reference_v<T> || (std::is_object_v<T> && !std::is_array_v<T>),
                "task<T>: T is an object type, a reference or void");
  static_assert(!std::is_object_v<T> || std::is_move_constructible_v<T>,
                "task<T>: the result is moved out of the frame: return a std::unique_ptr<T> or a reference");

 public:
  using value_type = T;
  struct promise_type : detail::task_promise<T> {
    task get_return_object() noexcept {
      detail::task_promise<T>& promise = *this;
      return task(handle_type::from_promise(promise));
    }
  };
  using handle_type = std::coroutine_handle<detail::task_promise<T>>;

  // An empty task: only to be assigned to.
  task() noexcept = default;
  task(task&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  task& operator=(task&& other) noexcept {
    task old(std::move(other));
    std::swap(body_, old.body_);
    return *this;
  }
  ~task() {
    if (!body_) return;
    if constexpr (debug_checks) detail::expect_unwinding();
    body_.destroy();
  }

  // Whether it holds a coroutine that was not awaited yet.
  explicit operator bool() const noexcept { return static_cast<bool>(body_); }

  // Gives the coroutine up without running it; its parameters are destroyed. Dropping a task that was never awaited is
  // otherwise fatal at check level `debug`: it is nearly always a forgotten co_await.
  void discard() && noexcept {
    if (auto body = std::exchange(body_, {})) body.destroy();
  }

  detail::task_awaiter<T> operator co_await() && noexcept {
    expects(static_cast<bool>(body_), "a task was awaited that was moved from or awaited before",
            "a task runs once: call the coroutine function again, or keep the result");
    return detail::task_awaiter<T>(std::exchange(body_, {}));
  }
  template <class Self = task>
  void operator co_await() & {
    static_assert(detail::awaited_as_lvalue<Self>, "hocket: a task is awaited once: write co_await std::move(t)");
  }

 private:
  explicit task(handle_type body) noexcept : body_(body) {}

  handle_type body_;
};

}  // namespace hocket::inline HOCKET_ABI

template <class T, class Alloc, class... Args>
struct std::coroutine_traits<hocket::task<T>, std::allocator_arg_t, Alloc, Args...>
    : hocket::detail::allocated_traits<hocket::task<T>, Alloc> {};
template <class T, class Self, class Alloc, class... Args>
struct std::coroutine_traits<hocket::task<T>, Self, std::allocator_arg_t, Alloc, Args...>
    : hocket::detail::allocated_traits<hocket::task<T>, Alloc> {};
