// yield: lets other ready coroutines run first.
//
//   co_await yield();       // or await(yield()) in a fiber
//
//   while (co_await yield()) work();    // until the coroutine is cancelled
//
// The coroutine moves to the end of its executor's run queue.
//
// Cancellation. A yield is no wait: the coroutine runs again in its turn even if it is cancelled or its deadline has
// passed. The result may be ignored. It is operation_canceled if the coroutine has been cancelled, and timed_out if a
// task manager has cancelled it for its deadline. A killed coroutine unwinds in yield(). yield() reads no clock: it
// does not check the coroutine's own deadline.
#pragma once
#include <hocket/base/seam/waited.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Throws the exception that unwinds a killed coroutine. Fatal if the coroutine is being unwound already.
[[noreturn, HOCKET_COLD]] void unwind_killed(strand_state& self);
// Like unwind_killed(), if the code was killed. For code of any context (null: of none), because it may be in a group.
void unwind_if_killed(const context* ctx);
// Like unwind_if_killed(). Returns whether the code was cancelled.
[[HOCKET_COLD, HOCKET_NOINLINE]] const waited& check_stop(const context* ctx);
// The other result of a yield. A reference to it is returned, because g++ keeps the result of a co_await in the frame,
// even if it is dropped.
inline constexpr waited not_cancelled{};

}  // namespace detail

class [[nodiscard("yield does nothing until it is awaited")]] yield {
 public:
  yield() noexcept {}

  class awaiter : public detail::own_awaiter {
   public:
    awaiter() noexcept {}

    static constexpr bool await_ready() noexcept { return false; }

    // If this thread pops from its executor's run queue, only the handle is queued. No register is saved for the other
    // cases: they are a call in place of the return.
    bool await_suspend(std::coroutine_handle<> handle) noexcept {
      detail::thread_state& thread = detail::this_thread();
      detail::expect_no_lock(thread);
      ctx_ = thread.ctx;
      if (thread.binding.ready && !thread.binding.stealable && thread.binding.ready->try_push_below_limit(handle))
          [[likely]]
        return true;
      return queue(thread, handle);
    }

    const waited& await_resume() {
      context* const own = restore_context();
      detail::strand_state* self = own ? own->strand() : nullptr;
      if (!self || self->may_be_stopped()) [[unlikely]]
        return detail::check_stop(own);
      return detail::not_cancelled;
    }

   protected:
    context* restore_context() noexcept {
      context* const own = ctx_;
      detail::this_thread().ctx = own;
      return own;
    }

   private:
    bool queue(detail::thread_state& thread, std::coroutine_handle<> handle) noexcept;
    [[HOCKET_NOINLINE]] bool queue_elsewhere(const detail::executor_binding& binding,
                                             std::coroutine_handle<> handle) noexcept;

    context* ctx_ = nullptr;
    union {
      detail::runnable run_;  // constructed when it is posted
    };
  };
  awaiter operator co_await() const noexcept { return {}; }
};

}}  // namespace hocket
