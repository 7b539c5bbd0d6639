// A coroutine that starts when it is awaited, and delivers its result once.
//
//   task<int> half(int n) { co_return n / 2; }
//   task<int> quarter(int n) { co_return co_await half(co_await half(n)); }
//   int two = sync_wait(quarter(8));
//
// T is an object type (move-only included), a reference or void.
//
// Guarantees.
//   - Awaiting is a symmetric transfer: the child runs at once on the parent's thread. When the child ends, the parent
//     resumes where the child ended. So a child shares its parent's executor and context, and no queue is touched.
//   - The task object owns the coroutine. `co_await t` destroys the coroutine as soon as it has the result: parameters
//     taken by value are then destroyed, as after the return of a function, and `t` is empty.
//
// Errors. co_await rethrows the exception of the body, the same object. Awaiting an empty task is fatal.
//
// Named tasks. Await a named task as std::move(t). That compiles everywhere. g++ 12 refuses a plain `co_await t` if `t`
// is a captured variable or a member, because it would copy `t`.
//
// Depth. Without optimisation, and with sanitizers, g++ makes no tail call of a transfer: each transfer leaves a stack
// frame until the coroutines suspend. Therefore a chain has a budget. Each transfer, down to a child or up to a parent,
// costs one. If the budget is empty, the transfer goes through the executor's queue, which unwinds the stack, and
// refills the budget. Every build does this, so all builds behave alike. Without an executor there is no queue: a chain
// that is driven by hand continues on the stack.
//
// Thread safety. A task has no lock and no atomics. Between two suspensions it belongs to one thread.
//
// Destruction. Destroying a task before its end destroys its locals, first the locals of the innermost child. Only a
// task that was never awaited and a chain that is driven by hand may be destroyed so. Do not destroy a task that waits
// in a queue or in a hocket primitive (found at check level `debug`): cancel it and await it. Destroying a chain of n
// unfinished tasks takes n stack frames.
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

  // An empty task: it can only be assigned to.
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

  // Whether the task holds a coroutine: false after a move, an await or a discard.
  explicit operator bool() const noexcept { return body_ && !body_.promise().keeps_error(); }

  // Destroys the coroutine and its parameters without running it. Dropping a task that was never awaited is otherwise
  // fatal at check level `debug`, because it is nearly always a forgotten co_await.
  void discard() && noexcept {
    if (auto body = std::exchange(body_, {})) body.destroy();
  }

  // `co_await std::move(t).propagate()`, only in a task, is `co_await std::move(t)` with a cheaper error path. An
  // exception of `t` is not thrown there: it ends the awaiting task, too, and its parent gets the exception_ptr. This
  // saves a rethrow, about a microsecond, in each task that does not catch. A plain co_await of a task throws the same
  // exception object. The locals of each task that the exception passes are destroyed, innermost first. Their
  // destructors see no exception in flight: std::uncaught_exceptions() is unchanged. A hocket handle or task that is
  // dropped by this counts as dropped because of a failure.
  detail::propagating<task> propagate() && noexcept { return detail::propagating<task>(std::move(*this)); }

  // A task is its own awaiter: a separate one would cost each co_await another move, and each parent's frame another
  // word. co_await calls the next three functions.
  bool await_ready() const noexcept {
    // The body of a failed task is a keeper, which reports the same when it is resumed (detail/kept_error.hpp).
    detail::expects(detail::debug_checks ? static_cast<bool>(*this) : static_cast<bool>(body_),
                    detail::task_awaited_again, detail::task_runs_once);
    detail::debug_expects(!body_.promise().awaited(), "a task is awaited by two coroutines at once",
                          "await it in one of them, and hand its result to the other");
    return false;
  }
  // A parent whose promise has a header passes its context and its budget to the child. A fiber passes its handle as a
  // coroutine_handle<coroutine_header>.
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return body_.promise().start(body_, parent);
  }
  // Destroys the frame before the parent continues, as a function's parameters are destroyed when it has returned.
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
  // After the end: destroys a failed coroutine and returns its exception. Null: the coroutine did not fail.
  std::exception_ptr take_failure() noexcept {
    auto& promise = body_.promise();
    if (!promise.ended_specially()) return nullptr;
    promise.dequeued();
    if (!promise.failed()) return nullptr;
    detail::early_destruction early(promise.ended_early());
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
  // A separate function, because g++ before 14 constructs a named result in the caller's place only if its declaration
  // is in the outermost block of a function.
  [[HOCKET_ALWAYS_INLINE]] T take_object() {
    T result = body_.promise().take_value();
    destroy();
    return result;
  }
  // Throws the exception of a failed task by a call in tail position, so the unwinder finds no frame of this function.
  // Returns `this`, so that its caller need not save a register for it.
  [[HOCKET_COLD, HOCKET_NOINLINE]] task* settle_special_end() {
    body_.promise().dequeued();
    if (body_.promise().failed()) return static_cast<task*>(detail::throw_kept(store_error()));
    return this;
  }
  [[HOCKET_COLD, HOCKET_NOINLINE]] T take_specially() {
    detail::early_destruction early(body_.promise().ended_early());
    return take();
  }
  // Moves the exception into a keeper, which replaces the destroyed body. Without memory the body stays and keeps the
  // exception.
  [[HOCKET_COLD, HOCKET_NOINLINE]] const std::exception_ptr& store_error() noexcept {
    auto& promise = body_.promise();
    const auto [keeper, error] = detail::error_keeper::make(promise.error());
    if (!keeper) return promise.error();
    detail::early_destruction early(promise.ended_early());
    destroy();
    body_ = detail::with_header<detail::task_promise<T>>(keeper);
    return *error;
  }

  handle_type body_;
};

}}  // namespace hocket
