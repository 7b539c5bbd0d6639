// The promise of an eager task (coro/eager_task.hpp has the protocol): the word that synchronises the body and the
// owner, and the first run, on the stack of the caller.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <hocket/coro/detail/task_promise.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The number of transfers of a body on the stack of its caller, before it goes through the queue. It is below
// transfer_budget, because a fiber's stack is small.
inline constexpr std::uint16_t eager_budget = 16;

// The part that does not depend on the result.
class eager_state {
 public:
  eager_state() noexcept = default;
  eager_state(const eager_state&) = delete;
  eager_state& operator=(const eager_state&) = delete;

  bool ended() const noexcept {
    // ORDER: acquire, pairs with the store and the exchange in end(): the result is visible.
    return word_.load(std::memory_order_acquire) == finished;
  }
  bool awaited() const noexcept {
    // ORDER: relaxed, pairs with nothing: a check; the owner has written it.
    return word_.load(std::memory_order_relaxed) == waited_for;
  }
  bool killed() const noexcept { return killed_; }

  // First call. Gives the body the context of its caller. In a fiber the body gets a copy of the context, because the
  // fiber changes its own in a block (core/wait/seam/context_block.hpp). Throws bad_alloc.
  void inherit(coroutine_header& header);

  // The initial suspension: runs the body until it first suspends or ends.
  void run_first(coroutine_header& header, std::coroutine_handle<> body) noexcept;

  // By the owner. `owner` is null for a thread. False: the body has ended, do not suspend.
  [[nodiscard]] bool wait(coroutine_header& header, std::coroutine_handle<> owner) noexcept;

  // By the resumed owner: its context becomes the current one.
  void woken() noexcept;

  // By the body, at its end. The owner may destroy the frame at once.
  void end(coroutine_header& header) noexcept;

  // In a catch (...) around the body, or with the error that ends it early.
  void record_kill() noexcept;
  void record_kill(const std::exception_ptr& error) noexcept;

 private:
  static constexpr std::uint32_t running = 0, waited_for = 1, finished = 2;

  void wake_owner(coroutine_header& header) noexcept;

  atomic<std::uint32_t> word_{running};
  bool killed_ = false;           // written by the body before `finished`
  bool ended_at_once_ = false;    // the body never waited
  context* owner_ctx_ = nullptr;  // the context of an owner that has waited
  std::optional<stack_pin> pin_;  // used by the caller in the first run, then by the owner
  context_ptr ctx_;               // holds the caller's context (perhaps of a block), if the body waits or has failed
};

// Fatal: an eager task that still runs is dropped by code that cannot wait.
[[noreturn, HOCKET_COLD]] void report_dropped_eager(const coroutine_header& header) noexcept;

// Passes an exception that no owner receives to on_unhandled.
[[HOCKET_COLD]] void give_up_error(const coroutine_header& header, std::exception_ptr error) noexcept;

// The body was killed. Unwinds the awaiting coroutine if it was killed, too; else throws cancelled.
[[noreturn, HOCKET_COLD]] void pass_kill_on();

template <class T>
class eager_promise : public task_promise<T, false> {
 public:
  eager_promise() {
    this->budget = eager_budget;
    state.inherit(*this);
  }

  // A body waits beside its owner, so each of its waits has storage of its own.
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
    state.record_kill();
  }

  // A waiting owner is posted. The thread that ends the body never resumes it.
  template <class... Args>
  std::coroutine_handle<> end_here(Args&&... result) {
    this->store_early(std::forward<Args>(result)...);
    state.end(*this);
    return nullptr;
  }
  std::coroutine_handle<> fail_here(std::exception_ptr error) noexcept {
    state.record_kill(error);
    this->fail_early(std::move(error));
    state.end(*this);
    return nullptr;
  }

  eager_state state;
};

}}}  // namespace hocket::detail
