#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/spawn/detail/bridge.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/yield.hpp>

#include <exception>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

[[noreturn]] void report_twice() noexcept {
  fatal("a foreign awaitable resumed a coroutine twice",
        "it must resume what awaits it exactly once, or not suspend it");
}

// The context of the running coroutine, which must not have been killed.
context& living_context() {
  context& ctx = current_context();
  unwind_if_killed(&ctx);
  return ctx;
}

}  // namespace

struct bridge::coroutine {
  struct promise_type {
    static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }
    coroutine get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

bridge::coroutine bridge::wait(bridge& self) {
  struct post {
    bridge& owner;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {
      // ORDER: relaxed, pairs with the exchange in withdraw(): one of both is second, and fatal.
      if (owner.over_.exchange(true, std::memory_order_relaxed)) report_twice();
      hocket::detail::post(owner.run_);
    }
    void await_resume() const noexcept {}
  };
  co_await post{self};
  report_twice();
}

bool bridge::possible() noexcept { return current_executor() != nullptr; }

bridge::bridge(std::coroutine_handle<> waiting)
    : ctx_(living_context()), run_{nullptr, waiting, current_executor()}, frame_(wait(*this).handle) {
  expect_no_lock(this_thread());
  leave_forked_call();  // another thread may resume and end it while await_suspend() still runs here, and begins others
  if (scheduled* self = scheduled_of(ctx_.coroutine())) self->waits_for_foreign(true);
}

void bridge::withdraw() noexcept {
  // ORDER: relaxed, pairs with the exchange in wait(): one of both is second, and fatal.
  if (over_.exchange(true, std::memory_order_relaxed)) report_twice();
  stop_waiting();
}

bridge::~bridge() {
  stop_waiting();
  frame_.destroy();
}

void bridge::end() noexcept {
  this_thread().ctx = &ctx_;
  stop_waiting();
}

void bridge::stop_waiting() noexcept {
  if (!std::exchange(waits_, false)) return;
  if (scheduled* self = scheduled_of(ctx_.coroutine())) self->waits_for_foreign(false);
}

}}}  // namespace hocket::detail
