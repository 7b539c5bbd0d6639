#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/operation.hpp>
#include <hocket/core/stealable_queue.hpp>
#include <hocket/core/yield.hpp>
#include <memory>

namespace hocket::inline HOCKET_ABI {

// On a worker of a pool, where the queue is not the thread's own, or has to look for room. The usual case is a leaf: it
// saves no registers.
bool yield::awaiter::queue(thread_state& here, std::coroutine_handle<> handle) noexcept {
  stealable_queue* const roaming = here.seat.roaming;
  const scheduled* const self = ctx_ ? ctx_->strand() : nullptr;
  if (roaming && self && self->roams() && roaming->try_push_into_room(handle)) [[likely]]
    return true;
  return queue_elsewhere(here.seat, handle);
}

bool yield::awaiter::queue_elsewhere(const executor_seat& seat, std::coroutine_handle<> handle) noexcept {
  expects(seat.running_on != nullptr, "a coroutine yielded outside of any executor",
          "start it with spawn, run or sync_wait, so that somebody can resume it");
  const scheduled* self = ctx_ ? ctx_->strand() : nullptr;
  const bool roams = seat.roaming && self && self->roams();
  if (roams ? seat.roaming->try_push(handle) : seat.ready && seat.ready->try_push(handle)) return true;
  std::construct_at(&run_, nullptr, handle, roams ? seat.pool : seat.running_on);
  hocket::post(run_);
  return true;
}

void detail::unwind_killed(scheduled& self) {
  self.expect_no_unwinding();
  self.begin_unwinding();
  throw_unwinding();
}

void detail::unwind_if_killed(const context* ctx) {
  if (scheduled* self = ctx ? ctx->strand() : nullptr) {
    if (self->killed()) unwind_killed(*self);
  } else if (ctx && ctx->stop() && ctx->stop()->killed()) {
    throw_unwinding();
  }
}

const waited& detail::look_at_stop(const context* ctx) {
  static const waited cancelled{failure{std::errc::operation_canceled}}, late{failure{std::errc::timed_out}};
  unwind_if_killed(ctx);
  const stop_source* const stop = ctx ? ctx->stop() : nullptr;
  if (!stop || stop->requested() == verdict::idle) return not_cancelled;
  return stop->timed_out() ? late : cancelled;
}

}  // namespace hocket::inline HOCKET_ABI
