#include <hocket/base/seam/coarse_clock.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/wait/seam/budget.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

#include <algorithm>
#include <exception>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

// The entry of a paused task in the queue. A coroutine, not a hand-made frame: it is rare, and correct in every mode
// and with every compiler.
struct late_start {
  struct promise_type;
  using handle_type = std::coroutine_handle<promise_type>;

  struct promise_type {
    static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }
    late_start get_return_object() noexcept { return {handle_type::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct last {
      static constexpr bool await_ready() noexcept { return false; }
      // The frame is destroyed before the next coroutine runs.
      std::coroutine_handle<> await_suspend(handle_type self) const noexcept {
        const std::coroutine_handle<> successor = self.promise().next;
        self.destroy();
        return successor;
      }
      void await_resume() const noexcept {}
    };
    last final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }

    runnable run{};
    std::coroutine_handle<> next = std::noop_coroutine();
  };

  struct own_promise {
    static constexpr bool await_ready() noexcept { return false; }
    bool await_suspend(handle_type self) noexcept {
      promise = &self.promise();
      return false;
    }
    promise_type* await_resume() const noexcept { return promise; }
    promise_type* promise = nullptr;
  };

  handle_type handle;
};

late_start begin_later(void* wait, begin_after_pause begin, context* ctx) {
  late_start::own_promise own;
  late_start::promise_type* const promise = co_await own;  // g++ 11 has an error of its own for a reference
  this_thread().ctx = ctx;
  if (std::coroutine_handle<> next = begin(wait)) promise->next = next;
}

// The queue of the running coroutine: any worker of a pool may take a coroutine that migrates.
executor& own_queue(const thread_state& thread) noexcept {
  const strand_state* const self = thread.ctx ? thread.ctx->strand() : nullptr;
  return thread.binding.pool && self && self->migrates() ? *thread.binding.pool : *thread.binding.running_on;
}

}  // namespace

bool restart_budget_by_time() noexcept {
  thread_state& thread = this_thread();
  if (thread.budget_end == 0 || thread.clock_reads == clock_reads_per_budget) return false;
  if (coarse_time().time_since_epoch().count() >= thread.budget_end) return false;
  const bool is_last = ++thread.clock_reads == clock_reads_per_budget;
  thread.spent = is_last ? next_of_timed + 1 : next_of_timed;  // 33 + 6 * 32 + 31 operations: 256
  wrote_this_thread();
  return true;
}

bool can_pause() noexcept {
  thread_state& thread = this_thread();
  if (restart_budget_by_time()) return false;
  refill_budget(thread);
  const strand_state* const self = thread.ctx ? thread.ctx->strand() : nullptr;
  return thread.binding.running_on && !thread.eager && !(self && self->unwinding()) && !leaving_by_failure();
}

wait_end ended_already(stop_level ignore, time_point until) noexcept {
  if (ignore >= stop_level::kill) return wait_end::none;
  const context& ctx = current_context();
  const stop_source* const stop = ctx.stop();
  if (const stop_level requested = stop ? stop->requested() : stop_level::none; requested > ignore)
    return end_of(requested);
  until = std::min(until, ctx.deadline());
  if (until == time_point::max()) return wait_end::none;
  const timer_service* const timers = current_executor()->timers();
  return timers && timers->now() >= until ? wait_end::timed_out : wait_end::none;
}

bool pause_task(void* wait, begin_after_pause begin) noexcept try {
  const thread_state& thread = this_thread();
  const late_start start = begin_later(wait, begin, thread.ctx);
  runnable& run = start.handle.promise().run;
  run = {nullptr, start.handle, &own_queue(thread)};
  hocket::detail::post(run);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}}}  // namespace hocket::detail
