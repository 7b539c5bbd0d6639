// task<T>: a coroutine that starts when it is awaited, and gives its result, once, to whoever awaits it.
//
//   task<int> half(int n) { co_return n / 2; }
//   task<int> quarter(int n) { co_return co_await half(co_await half(n)); }
//   int two = sync_wait(quarter(8));
//
// T is an object type (move-only included), a reference or void. What the body throws is rethrown, the same object, by
// the co_await. The task object owns the coroutine. `co_await t` destroys it as soon as it has the result: parameters
// taken by value are then gone, as after the return of a function, and `t` is empty. Awaiting an empty task is fatal.
// A named task is awaited as std::move(t): it may be so everywhere (g++ 12 refuses a plain `co_await t` where `t` is a
// captured variable or a member, because it would copy it).
//
// Awaiting is a symmetric transfer: the child runs at once on the parent's thread, and when it ends the parent goes on
// where the child ended. So a child shares its parent's executor and context, and no queue is touched.
//
// Depth. g++ without optimisation, and with sanitizers, makes no tail call of a transfer: each one leaves a stack frame
// behind until the coroutines suspend. Therefore a chain carries a budget: every transfer, down to a child or back up
// to a parent, costs one; the one that finds none left goes through the executor's queue instead, which unwinds the
// stack, and fills the budget up. This happens in every build, so that every build behaves alike. Where there is no
// executor there is no queue: a chain that is driven by hand goes on.
//
// Threads: a task has no lock and no atomics. Between two suspensions it belongs to one thread.
//
// Destroying a task before its end destroys its locals, those of the innermost child first. That is for tasks that were
// never awaited, and for chains driven by hand: a task that waits in a queue or in one of hocket's primitives must not
// be destroyed (found at level debug), it is cancelled and awaited. The destruction of a chain of n unfinished tasks
// takes n stack frames.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/coro/detail/frame_allocation.hpp>
#include <hocket/coro/detail/kept_error.hpp>
#include <hocket/coro/detail/propagating.hpp>
#include <hocket/coro/detail/task_promise.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class fork_awaiter;
}  // namespace detail

template <class T>
class task;

namespace detail {
template <class T>
inline constexpr bool is_task<task<T>> = true;
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
    if constexpr (detail::debug_checks) detail::expect_droppable(body_.promise());
    body_.destroy();
  }

  // Whether it holds a coroutine: false after a move, an await or a discard.
  explicit operator bool() const noexcept { return body_ && !body_.promise().keeps_error(); }

  // Gives the coroutine up without running it; its parameters are destroyed. Dropping a task that was never awaited is
  // otherwise fatal at check level `debug`: it is nearly always a forgotten co_await.
  void discard() && noexcept {
    if (auto body = std::exchange(body_, {})) body.destroy();
  }

  // co_await std::move(t).propagate(), in a task: the same as co_await std::move(t), but an exception of `t` is not
  // thrown there. It ends this task, too, as an exception_ptr that is handed on: nothing is rethrown in a task that
  // does not catch, which costs a microsecond for each. Where the task is awaited plainly the exception comes out, the
  // same object. On its way the locals of each task that it passes are destroyed, innermost first; their destructors
  // see no exception in flight (std::uncaught_exceptions() is what it was). hocket's own objects know: a handle or a
  // task that is dropped so is dropped because of a failure.
  detail::propagating<task> propagate() && noexcept { return detail::propagating<task>(std::move(*this)); }

  // A task is its own awaiter: a separate one would cost each co_await another move, and each parent's frame another
  // word. The following is called by co_await.
  bool await_ready() const noexcept {
    // One that failed has a body that says the same (detail/kept_error.hpp).
    detail::expects(detail::debug_checks ? static_cast<bool>(*this) : static_cast<bool>(body_),
                    detail::task_awaited_again, detail::task_runs_once);
    detail::debug_expects(!body_.promise().awaited(), "a task is awaited by two coroutines at once",
                          "await it in one of them, and hand its result to the other");
    return false;
  }
  // A parent whose promise has a header hands its chain on to the child: its context and its budget. A fiber passes
  // its handle as a coroutine_handle<coroutine_header>.
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return body_.promise().start(body_, parent);
  }
  // Destroys the frame before the parent goes on, as a function's parameters are gone when it has returned.
  T await_resume() {
    if (body_.promise().ended_specially()) [[unlikely]]
      return settle_special_end()->take_specially();
    return take();
  }

 private:
  explicit task(handle_type body) noexcept : body_(body) {}

  template <class>
  friend class detail::propagating;
  friend class detail::fork_awaiter;
  // After its end: the exception that it ended with, and the coroutine is gone; or null.
  std::exception_ptr take_failure() noexcept {
    auto& promise = body_.promise();
    if (!promise.ended_specially()) return nullptr;
    promise.dequeued();
    if (!promise.failed()) return nullptr;
    detail::early_destruction leaving(promise.ended_early());
    std::exception_ptr error = promise.take_error();
    destroy();
    return error;
  }

  void destroy() noexcept { std::exchange(body_, {}).destroy(); }
  [[HOCKET_ALWAYS_INLINE]] T take() {
    auto& promise = body_.promise();
    if constexpr (std::is_void_v<T>) {
      destroy();
    } else if constexpr (std::is_reference_v<T>) {
      auto* referent = promise.take_value();
      destroy();
      return static_cast<T>(*referent);
    } else {
      return take_object();
    }
  }
  // A function of its own: g++ before 14 constructs a named result in the caller's place only if its declaration is in
  // the outermost block of a function.
  [[HOCKET_ALWAYS_INLINE]] T take_object() {
    T result = body_.promise().take_value();
    destroy();
    return result;
  }
  // Throws the exception, if there is one, by a call in tail position: the unwinder finds no frame of this function.
  // Returns `this`, so that its caller need not save a register for it.
  [[HOCKET_COLD, HOCKET_NOINLINE]] task* settle_special_end() {
    body_.promise().dequeued();
    if (body_.promise().failed()) return static_cast<task*>(detail::throw_kept(keep_error()));
    return this;
  }
  [[HOCKET_COLD, HOCKET_NOINLINE]] T take_specially() {
    detail::early_destruction leaving(body_.promise().ended_early());
    return take();
  }
  // The exception, which this task has from now on; the body is gone. Without memory for that the body keeps both.
  [[HOCKET_COLD, HOCKET_NOINLINE]] const std::exception_ptr& keep_error() noexcept {
    auto& promise = body_.promise();
    const auto [keeper, error] = detail::error_keeper::make(promise.error());
    if (!keeper) return promise.error();
    detail::early_destruction leaving(promise.ended_early());
    destroy();
    body_ = detail::with_header<detail::task_promise<T>>(keeper);
    return *error;
  }

  handle_type body_;
};

}}  // namespace hocket
