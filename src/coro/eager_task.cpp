#include <hocket/coro/eager_task.hpp>

#include <hocket/base/error.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/yield.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void eager_state::inherit(coroutine_header& header) {
  context& caller = current_context();
  if (strand_state* self = caller.strand(); self == &caller && self->kind() == coroutine_kind::fiber)
    ctx_ = context::child_without_slots(caller, {caller.stop(), caller.deadline(), caller.bindings()});
  header.ctx = ctx_ ? ctx_.get() : &caller;
}

// The caller's thread does not change meanwhile, because the body must not wait on its stack. The body may continue on
// another thread before this function returns. After that the function touches only the members of the caller and
// owner.
void eager_state::run_first(coroutine_header& header, std::coroutine_handle<> body) noexcept {
  thread_state& thread = this_thread();
  context* const ctx = std::exchange(thread.ctx, header.ctx);
  const void* const outer = std::exchange(thread.eager, this);
  strand_state* const strand = header.ctx->strand();
  if (strand) strand->pin();  // before any thread can wake the body
  body.resume();
  if (strand && ended_at_once_) strand->unpin();
  thread.eager = outer;
  thread.ctx = ctx;
  const bool has_ended = ended();
  if (!has_ended) [[unlikely]]
    pin_.emplace(&body, "what an eager task refers to");
  if (!has_ended || (header.reserved & task_bit::error)) [[unlikely]]
    if (!ctx_) ctx_ = context_ptr(ctx ? *ctx : context::root());
}

bool eager_state::wait(coroutine_header& header, std::coroutine_handle<> owner) noexcept {
  thread_state& thread = this_thread();
  expects(thread.binding.running_on != nullptr, "an eager task was awaited outside of any executor, and still runs",
          "await it in a coroutine that was spawned, or sync_wait for it");
  expect_no_lock(thread);
  owner_ctx_ = thread.ctx;
  header.continuation = {nullptr, owner, thread.binding.running_on};
  std::uint32_t expected = running;
  // ORDER: release, pairs with the exchange in end(): it reads the owner; acquire on failure, pairs with the same: the
  // result is visible.
  if (word_.compare_exchange_strong(expected, waited_for, std::memory_order_release, std::memory_order_acquire))
    return true;
  if (expected != finished)
    fatal("an eager task is awaited by two, or was destroyed while it is awaited",
          "await it in one place, and let it outlive that", header.ctx->name());
  return false;
}

void eager_state::woken() noexcept { this_thread().ctx = owner_ctx_; }

// In the first run no owner has the task yet, so a store suffices.
void eager_state::end(coroutine_header& header) noexcept {
  // ORDER: release, pairs with the load in ended(): the result is visible on any thread that the task is moved to.
  if (this_thread().eager == this) [[likely]] {
    ended_at_once_ = true;
    return word_.store(finished, std::memory_order_release);
  }
  if (strand_state* strand = header.ctx->strand()) strand->unpin();
  // ORDER: acq_rel, pairs with the load in ended() and the compare-exchange in wait(): the result and the owner are
  // visible.
  if (word_.exchange(finished, std::memory_order_acq_rel) == waited_for) post(header.continuation);
}

// The unwinding of the body is over. The unwinding of its owner has not begun: the owner may await another operation.
void eager_state::record_kill() noexcept {
  const context& ctx = current_context();
  strand_state* self = ctx.strand();
  const bool possible = self ? self->unwinding() : ctx.stop() && ctx.stop()->killed();
  if (!possible) return;
  try {
    throw;
  } catch (const forced_unwind&) {
    killed_ = true;
    if (self) self->end_unwinding();
  } catch (...) {
  }
}

void eager_state::record_kill(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    record_kill();
  }
}

void pass_kill_on() {
  unwind_if_killed(&current_context());
  throw cancelled();
}

void give_up_error(const coroutine_header& header, std::exception_ptr error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const forced_unwind&) {
    return;
  } catch (const cancelled&) {
    return;
  } catch (...) {
  }
  const scheduled* caller = scheduled_of(header.ctx->coroutine());
  (caller ? caller->target().on_unhandled() : &abort_on_unhandled)(std::move(error), *header.ctx);
}

void report_dropped_eager(const coroutine_header& header) noexcept {
  fatal("an eager task was dropped by a task while it still runs",
        "a task's destructors cannot wait: await it on every way out, or spawn what may be left behind on a scope",
        header.ctx->name(), header.ctx->spawned());
}

}}}  // namespace hocket::detail
