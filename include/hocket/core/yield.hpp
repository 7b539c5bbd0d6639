// yield: lets the other coroutines that are ready run first.
//
//   co_await yield();       // or await(yield()) in a fiber
//
//   while (co_await yield()) work();    // until the coroutine is cancelled
//
// The coroutine goes to the end of its executor's run queue. That is no wait: it comes to its turn also if it is
// cancelled or its deadline has passed. The result, which may be ignored, is operation_canceled if the coroutine has
// been cancelled, and timed_out if a task manager has cancelled it for its deadline. A coroutine that was killed
// unwinds here. No clock is read: yield() does not look at the coroutine's own deadline.
#pragma once
#include <hocket/base/detail/waited.hpp>
#include <hocket/core/detail/current.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/run_queue.hpp>
#include <hocket/core/detail/scheduled.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Throws what unwinds a coroutine that finds itself killed; fatal if it is being unwound already.
[[noreturn, HOCKET_COLD]] void unwind_killed(scheduled& self);
// The same, if it was killed, for code of any context (null: of none): it may be one of a group.
void unwind_if_killed(const context* ctx);
// The same, and whether it was cancelled.
[[HOCKET_COLD, HOCKET_NOINLINE]] const waited& look_at_stop(const context* ctx);
// What a yield gives otherwise: a reference, because g++ keeps what a co_await gives in the frame, also where it is
// dropped.
inline constexpr waited not_cancelled{};

}  // namespace detail

class [[nodiscard("yield does nothing until it is awaited")]] yield {
 public:
  yield() noexcept {}

  class awaiter : public detail::own_awaiter {
   public:
    awaiter() noexcept {}

    static constexpr bool await_ready() noexcept { return false; }

    // Where this thread pops from its executor's run queue, the handle is all that is queued. No register is saved for
    // the rest, which is a call in place of the return.
    bool await_suspend(std::coroutine_handle<> handle) noexcept {
      detail::thread_state& here = detail::this_thread();
      detail::expect_no_lock(here);
      ctx_ = here.ctx;
      if (here.seat.ready && !here.seat.stealable && here.seat.ready->push_in_sight(handle)) [[likely]]
        return true;
      return queue(here, handle);
    }

    const waited& await_resume() {
      context* const own = come_back();
      detail::scheduled* self = own ? own->strand() : nullptr;
      if (!self || self->may_be_stopped()) [[unlikely]]
        return detail::look_at_stop(own);
      return detail::not_cancelled;
    }

   protected:
    context* come_back() noexcept {
      context* const own = ctx_;
      detail::this_thread().ctx = own;
      return own;
    }

   private:
    bool queue(detail::thread_state& here, std::coroutine_handle<> handle) noexcept;
    [[HOCKET_NOINLINE]] bool queue_elsewhere(const detail::executor_seat& seat,
                                             std::coroutine_handle<> handle) noexcept;

    context* ctx_ = nullptr;
    union {
      detail::runnable run_;  // made when it is posted
    };
  };
  awaiter operator co_await() const noexcept { return {}; }
};

}}  // namespace hocket
