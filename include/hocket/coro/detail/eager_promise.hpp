// The promise of an eager task (coro/eager_task.hpp has the protocol): the word that body and owner meet in, and the
// first run, on the stack of the code that called it.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <hocket/coro/detail/task_promise.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// How many transfers a body may make on the stack of its caller before it goes through the queue: fewer than a chain on
// a worker's stack may (transfer_budget), since a fiber's stack is small.
inline constexpr std::uint16_t eager_budget = 16;

// The part that does not depend on the result.
class eager_state {
 public:
  eager_state() noexcept = default;
  eager_state(const eager_state&) = delete;
  eager_state& operator=(const eager_state&) = delete;

  bool ended() const noexcept {
    // ORDER: acquire, pairs with the store and the exchange in end(): the result is visible.
    return word_.load(std::memory_order_acquire) == over;
  }
  bool awaited() const noexcept {
    // ORDER: relaxed, pairs with nothing: a check; who owns the task has written it.
    return word_.load(std::memory_order_relaxed) == waited_for;
  }
  bool killed() const noexcept { return killed_; }

  // Before all else: the body has the context of the code that calls it. In a fiber it gets one of its own, which is as
  // that one is now: a fiber's own is changed while the fiber is in a block (core/wait/seam/context_block.hpp).
  // Throws bad_alloc.
  void inherit(coroutine_header& header);

  // The initial suspension: runs the body until it first suspends or ends.
  void run_first(coroutine_header& header, std::coroutine_handle<> body) noexcept;

  // Of the owner, whose handle is null if it is a thread. False: it has ended, do not suspend.
  [[nodiscard]] bool wait(coroutine_header& header, std::coroutine_handle<> owner) noexcept;

  // Of the owner, when it runs again: its context becomes the current one.
  void woken() noexcept;

  // Of the body, at its end; the frame may be gone afterwards.
  void end(coroutine_header& header) noexcept;

  // In a catch (...) around the body; or of what ends it early.
  void note_kill() noexcept;
  void note_kill(const std::exception_ptr& error) noexcept;

 private:
  static constexpr std::uint32_t running = 0, waited_for = 1, over = 2;

  void wake_owner(coroutine_header& header) noexcept;

  atomic<std::uint32_t> word_{running};
  bool killed_ = false;           // the body's, before `over`
  bool ended_at_once_ = false;    // it never waited
  context* owner_ctx_ = nullptr;  // the owner's: of one that has waited
  std::optional<stack_pin> pin_;  // the caller's, in the first run; then the owner's
  context_ptr ctx_;               // the caller's, that of a block perhaps, for who waits or has failed
};

// Fatal: an eager task that still runs is dropped where nobody can wait for it.
[[noreturn, HOCKET_COLD]] void report_dropped_eager(const coroutine_header& header) noexcept;

// What left a body goes to whoever handles what nobody receives.
[[HOCKET_COLD]] void give_up_error(const coroutine_header& header, std::exception_ptr error) noexcept;

// The body was killed: so is who awaits it, or it learns that the body was stopped.
[[noreturn, HOCKET_COLD]] void pass_kill_on();

template <class T>
class eager_promise : public task_promise<T, false> {
 public:
  eager_promise() {
    this->budget = eager_budget;
    state.inherit(*this);
  }

  // A body waits beside its owner: each of its waits has a room of its own.
  using task_promise<T, false>::await_transform;
  template <class A>
    requires has_awaiter_in_task<A>
  static auto await_transform(A&& a) noexcept(noexcept(std::forward<A>(a).operator co_await())) {
    return std::forward<A>(a).operator co_await();
  }

  struct first {
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    static void await_suspend(std::coroutine_handle<Promise> body) noexcept {
      eager_promise& promise = body.promise();
      promise.state.run_first(promise, body);
    }
    static constexpr void await_resume() noexcept {}
  };
  static first initial_suspend() noexcept { return {}; }

  struct last {
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    static void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      eager_promise& promise = self.promise();
      promise.state.end(promise);
    }
    static void await_resume() noexcept {}
  };
  static last final_suspend() noexcept { return {}; }

  void unhandled_exception() noexcept {
    task_promise<T, false>::unhandled_exception();
    state.note_kill();
  }

  // Its owner is posted, if it waits, and never resumed by whoever ends the body.
  template <class... Args>
  std::coroutine_handle<> end_here(Args&&... result) {
    this->keep_early(std::forward<Args>(result)...);
    state.end(*this);
    return nullptr;
  }
  std::coroutine_handle<> fail_here(std::exception_ptr error) noexcept {
    state.note_kill(error);
    this->fail_early(std::move(error));
    state.end(*this);
    return nullptr;
  }

  eager_state state;
};

}}}  // namespace hocket::detail
