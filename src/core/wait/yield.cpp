#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/stealable_queue.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/yield.hpp>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

// For a worker of a pool, if the queue is not the thread's own, or the limit must be computed again. The usual case is
// a leaf function: it saves no registers.
bool yield::awaiter::queue(thread_state& thread, std::coroutine_handle<> handle) noexcept {
  stealable_queue* const stealable = thread.binding.stealable;
  const strand_state* const self = ctx_ ? ctx_->strand() : nullptr;
  if (stealable && self && self->migrates() && stealable->try_push_without_growth(handle)) [[likely]]
    return true;
  return queue_elsewhere(thread.binding, handle);
}

bool yield::awaiter::queue_elsewhere(const executor_binding& binding, std::coroutine_handle<> handle) noexcept {
  expects(binding.running_on != nullptr, "a coroutine yielded outside of any executor",
          "start it with spawn, run or sync_wait, which give it an executor");
  const strand_state* self = ctx_ ? ctx_->strand() : nullptr;
  const bool migrates = binding.stealable && self && self->migrates();
  if (migrates ? binding.stealable->try_push(handle) : binding.ready && binding.ready->try_push(handle)) return true;
  std::construct_at(&run_, runnable{nullptr, handle, migrates ? binding.pool : binding.running_on});
  hocket::detail::post(run_);
  return true;
}

namespace detail {

void unwind_killed(strand_state& self) {
  self.expect_no_unwinding();
  self.begin_unwinding();
  throw_unwinding();
}

void unwind_if_killed(const context* ctx) {
  if (strand_state* self = ctx ? ctx->strand() : nullptr) {
    if (self->killed()) unwind_killed(*self);
  } else if (ctx && ctx->stop() && ctx->stop()->killed()) {
    throw_unwinding();
  }
}

const waited& check_stop(const context* ctx) {
  static const waited cancelled{failure{errc::cancelled}}, late{failure{errc::deadline_exceeded}};
  unwind_if_killed(ctx);
  const stop_source* const stop = ctx ? ctx->stop() : nullptr;
  if (!stop || stop->requested() == stop_level::none) return not_cancelled;
  return stop->timed_out() ? late : cancelled;
}

}  // namespace detail

}}  // namespace hocket
