// A coroutine that starts when it is called, and delivers its result once.
//
//   eager_task<page> load(cache& c, key k) {
//     if (page* known = c.find(k)) co_return *known;          // never suspends: awaiting it costs one load
//     co_return co_await fetch(k);
//   }
//   auto left = load(c, 1);                                    // both are under way
//   auto right = load(c, 2);
//   use(co_await std::move(left), co_await std::move(right));  // in a fiber and a thread: await(std::move(left))
//
// The body runs at once on the stack of its caller until it first suspends. Later it is resumed where it suspended,
// like any task. T is an object type (move-only included), a reference or void. Parameters and locals behave as in a
// task: taking the result destroys the frame, and the eager_task is empty then. A task, a fiber or a thread awaits it,
// at most once.
//
// Errors. co_await rethrows the exception of the body, the same object, also if the body threw before it suspended.
// Awaiting an empty eager_task is fatal.
//
// Context. The body runs under its caller's context: a stop of the caller ends the body's waits, and the caller's
// deadline applies to them. So the body belongs to the coroutine that called it, and must end before that coroutine.
//
// Cancellation. Like the await of a task, the await of an eager_task cannot be cancelled, timed or selected. A stop of
// the caller stops the body, and the body's end ends the await.
//
// Executor. Each wait of the body is on the executor that is current when the wait begins: at first the caller's. If
// the body waits without an executor (on a plain thread), that is fatal, as in a task that is driven by hand.
//
// The caller's stack.
//   - `await` is fatal in the body, and in tasks that the body awaits before it suspends, even if the caller is a
//     fiber: the body will not have that stack later.
//   - These tasks use the caller's stack. At most 16 transfers are made on it before the body goes through the
//     executor's queue (reason: task.hpp, Depth).
//
// Dropping.
//   - An ended eager_task is dropped like a value. An exception that was not received goes where a dropped join_handle
//     sends it (on_unhandled of the caller's target, which aborts by default), unless the eager_task is dropped because
//     of another exception.
//   - A running body cannot be destroyed, because a primitive or a queue refers to its frame. So the destructor waits
//     for the end of the body, like the destructor of a scope: a fiber and a plain thread block.
//   - In a task, dropping a running eager_task is fatal, because a task's destructors cannot wait. This includes an
//     exception or a kill that leaves the task. A task that may be left so spawns on a scope instead (in_scope).
//   - Only a stop of its context ends a body early.
//
// Kill. A killed body unwinds when it is resumed. If the awaiting coroutine was killed, too, as the body's caller was,
// then the await continues the kill. Any other awaiting coroutine gets `cancelled`.
//
// Implementation. Body and owner may be on different threads. They synchronize by one word:
//
//   running      the owner does not wait       -> waited_for (owner) | finished (body)
//   waited_for   `continuation` is the owner   -> finished (body, which then posts the continuation)
//   finished     the result is in the slot     final; the owner owns the frame
//
//   body    1. writes the result; 2. sets `finished`: in its first run by a store, because no owner has the task yet,
//           else by an exchange; 3. if the exchange found `waited_for`, posts the owner to its executor. The body never
//           resumes the owner.
//   owner   1. reads the word; if `finished`, takes the result; 2. else writes the continuation and its context;
//           3. compare-exchanges to `waited_for`. If that fails, the body has ended: the owner does not suspend.
// Lost wake-up: both change the same word, so the later of the two sees the change of the other. Lifetime: only the
// owner frees the frame, after `finished`. After its exchange the body touches only the continuation that it posts, and
// the owner cannot run before the post.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <hocket/coro/detail/eager_promise.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class T = void>
class [[nodiscard]] eager_task : public detail::own_awaiter {
  static_assert(std::is_void_v<T> || std::is_reference_v<T> || (std::is_object_v<T> && !std::is_array_v<T>),
                "eager_task<T>: T is an object type, a reference or void");
  static_assert(!std::is_object_v<T> || std::is_move_constructible_v<T>,
                "eager_task<T>: the result is moved out of the frame: return a std::unique_ptr<T> or a reference");

 public:
  using value_type = T;
  static constexpr bool begins_when_called = true;  // for groups: the body is under way
  struct promise_type : detail::eager_promise<T> {
    eager_task get_return_object() noexcept {
      detail::eager_promise<T>& promise = *this;
      return eager_task(handle_type::from_promise(promise));
    }
  };
  using handle_type = std::coroutine_handle<detail::eager_promise<T>>;

  // An empty eager_task: it can only be assigned to.
  eager_task() noexcept = default;
  eager_task(eager_task&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  eager_task& operator=(eager_task&& other) noexcept {
    eager_task old(std::move(other));
    std::swap(body_, old.body_);
    return *this;
  }
  ~eager_task() {
    if (body_) drop();
  }

  // Whether the eager_task holds a coroutine: false after a move or an await.
  explicit operator bool() const noexcept { return static_cast<bool>(body_); }

  // Whether the body has ended, so that awaiting does not wait. False may be outdated at once.
  bool is_ready() const noexcept { return checked().state.ended(); }

  // An eager_task is its own awaiter, as a task is. co_await calls the next functions.
  bool await_ready() const noexcept {
    detail::debug_expects(!checked().state.awaited(), "an eager task is awaited by two at once",
                          "await it in one place, and hand its result to the other");
    detail::expect_no_lock_to_await();
    return is_ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> owner) noexcept {
    auto& promise = body_.promise();
    if constexpr (!detail::has_header<Promise>) promise.flags = 0;
    waited_ = promise.state.wait(promise, owner);
    return waited_;
  }
  // Replaces await_resume() if the result of an lvalue is left (leaves_result): the eager_task can be awaited again.
  bool leave_result() noexcept {
    if (body_.promise().state.killed()) return false;
    finish_wait();
    return true;
  }
  // Destroys the frame before the owner continues.
  T await_resume() {
    auto& promise = body_.promise();
    finish_wait();
    if (promise.failed()) [[unlikely]]
      rethrow();
    if constexpr (std::is_void_v<T>) {
      destroy();
    } else if constexpr (std::is_reference_v<T>) {
      auto* referent = promise.take_value();
      destroy();
      return static_cast<T>(*referent);
    } else {
      struct frame_guard {
        eager_task& self;
        ~frame_guard() { self.destroy(); }
      } frame{*this};
      return promise.take_value();
    }
  }

 private:
  explicit eager_task(handle_type body) noexcept : body_(body) {}

  detail::eager_promise<T>& checked() const noexcept {
    detail::expects(static_cast<bool>(body_), "an empty eager_task was used",
                    "it was moved from or awaited before: call the coroutine function again, or keep its result");
    return body_.promise();
  }
  void destroy() noexcept {
    detail::early_destruction early(body_.promise().ended_early());
    std::exchange(body_, {}).destroy();
  }
  void finish_wait() noexcept {
    if (waited_) [[unlikely]]
      body_.promise().state.woken();
    waited_ = false;
  }
  [[noreturn, HOCKET_COLD, HOCKET_NOINLINE]] void rethrow() {
    std::exception_ptr error = body_.promise().take_error();
    const bool killed = body_.promise().state.killed();
    destroy();
    if (killed) detail::pass_kill_on();
    std::rethrow_exception(std::move(error));
  }

  void drop() noexcept {
    auto& promise = body_.promise();
    if (!promise.state.ended()) [[unlikely]]
      join();
    if (promise.failed() && !detail::leaving_by_failure()) [[unlikely]]
      detail::give_up_error(promise, promise.take_error());
    destroy();
  }
  [[HOCKET_COLD, HOCKET_NOINLINE]] void join() noexcept {
    constexpr detail::suspend_call suspend = [](void* self, std::coroutine_handle<> owner) noexcept {
      return static_cast<eager_task*>(self)->await_suspend(owner);
    };
    if (!detail::suspend_stack(this, suspend)) {
      if (current_executor()) detail::report_dropped_eager(body_.promise());
      detail::block_thread(*this);
    }
    finish_wait();
  }

  handle_type body_;
  bool waited_ = false;
};

}}  // namespace hocket
