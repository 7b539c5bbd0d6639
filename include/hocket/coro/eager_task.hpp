// eager_task<T>: a coroutine that starts when it is called, and gives its result, once, to whoever awaits it.
//
//   eager_task<page> load(cache& c, key k) {
//     if (page* known = c.find(k)) co_return *known;          // never suspends: awaiting it costs a look
//     co_return co_await fetch(k);
//   }
//   auto left = load(c, 1);                                    // both are under way
//   auto right = load(c, 2);
//   use(co_await std::move(left), co_await std::move(right));  // in a fiber and a thread: await(std::move(left))
//
// The body runs at once, on the stack of the code that calls it, until it first suspends; from then on it is resumed
// where it suspended, like any task. T is an object type (move-only included), a reference or void. What the body
// throws, also before it suspends, is rethrown, the same object, by the co_await. Parameters and locals are those of
// task: the frame is destroyed as soon as the result is taken, and the eager_task is empty then. It is awaited at most
// once, by a task, a fiber or a thread; awaiting an empty one is fatal.
//
// Context. The body runs under its caller's context: what stops the caller ends its waits, a deadline holds for them.
// So it belongs to the coroutine that called it, and must have ended before that does. Awaiting it cannot be cancelled,
// timed or selected, no more than awaiting a task can: what stops the caller stops the body, which lets the wait end.
//
// Executor. Each wait of the body is on the executor that is current when the wait begins: at first the caller's. A
// body that waits where there is none (on a plain thread) is fatal, as in a task that is driven by hand.
//
// The caller's stack. `await` in the body, and in tasks that it awaits before it suspends, is fatal even if the caller
// is a fiber: the body will not have that stack later. Code that is called so deep has the caller's stack to live on:
// at most 16 transfers are made on it before the body goes through the executor's queue (task.hpp tells why).
//
// Dropping. One that has ended is dropped like a value; but an exception that nobody has received goes where that of a
// dropped join_handle would (on_unhandled of the caller's target, which aborts unless told otherwise), unless it is
// dropped because of another exception. One that still runs cannot be destroyed: a primitive or a queue refers to its
// frame. So the destructor waits for its end, as that of a scope does: a fiber and a plain thread block. A task's
// destructors cannot wait: there it is fatal, also when an exception or a kill leaves the task. A task that may be left
// so spawns on a scope instead (in_scope). Nothing else ends a body early than the stop of its context.
//
// A killed body unwinds by itself, when it is resumed. Awaiting it then goes on with the kill, if the awaiting
// coroutine was killed, too, as its caller was; any other gets `cancelled`.
//
// The protocol. Body and owner meet in one word, so they may be on different threads when they do:
//
//   running      nobody waits for it           -> waited_for (owner) | over (body)
//   waited_for   `continuation` says whom      -> over (body, which then posts the continuation)
//   over         the result is in the slot     final; the frame is the owner's
//
//   body    1. writes the slot; 2. over: by a store in its first run, when nobody has the task yet, else by an
//           exchange; 3. if that found `waited_for`, posts the owner to its executor. It never resumes the owner.
//   owner   1. looks: over, take the result; 2. else writes the continuation (and its context); 3. compare-exchange to
//           `waited_for`; if that fails the body has ended meanwhile: it does not suspend.
// Lost wake-up: both change the same word, so one of both comes second and finds what the other has done. The frame is
// freed by the owner alone, after `over`; the body touches nothing of it after its exchange but the continuation that
// it posts, and the owner cannot run before that is posted.
#pragma once
#include <hocket/core/detail/wait_here.hpp>
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
  static constexpr bool begins_when_called = true;  // for groups: it is under way already
  struct promise_type : detail::eager_promise<T> {
    eager_task get_return_object() noexcept {
      detail::eager_promise<T>& promise = *this;
      return eager_task(handle_type::from_promise(promise));
    }
  };
  using handle_type = std::coroutine_handle<detail::eager_promise<T>>;

  // An empty one: only to be assigned to.
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

  // Whether it holds a coroutine: false after a move or an await.
  explicit operator bool() const noexcept { return static_cast<bool>(body_); }

  // Whether awaiting it would not wait. False may be outdated at once.
  bool is_ready() const noexcept { return checked().state.ended(); }

  // It is its own awaiter, as a task is. The following is called by co_await.
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
  // Instead of that, of one that is awaited as an lvalue (leaves_result): it can be awaited once more.
  bool leave_result() noexcept {
    if (body_.promise().state.killed()) return false;
    come_back();
    return true;
  }
  // Destroys the frame before the owner goes on.
  T await_resume() {
    auto& promise = body_.promise();
    come_back();
    if (promise.failed()) [[unlikely]]
      rethrow();
    if constexpr (std::is_void_v<T>) {
      destroy();
    } else if constexpr (std::is_reference_v<T>) {
      auto* referent = promise.take_value();
      destroy();
      return static_cast<T>(*referent);
    } else {
      struct freed_at_last {
        eager_task& self;
        ~freed_at_last() { self.destroy(); }
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
    detail::early_destruction leaving(body_.promise().ended_early());
    std::exchange(body_, {}).destroy();
  }
  void come_back() noexcept {
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
    come_back();
  }

  handle_type body_;
  bool waited_ = false;
};

}}  // namespace hocket
