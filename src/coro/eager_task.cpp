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
  context& here = current_context();
  if (strand_state* self = here.strand(); self == &here && self->kind() == coroutine_kind::fiber)
    ctx_ = context::child_without_slots(here, {here.stop(), here.deadline(), here.bindings()});
  header.ctx = ctx_ ? ctx_.get() : &here;
}

// The caller's thread cannot change meanwhile: the body must not wait on its stack. The body itself may go on elsewhere
// before this returns; of the frame only what belongs to the caller and the owner is touched afterwards.
void eager_state::run_first(coroutine_header& header, std::coroutine_handle<> body) noexcept {
  thread_state& here = this_thread();
  context* const ctx = std::exchange(here.ctx, header.ctx);
  const void* const outer = std::exchange(here.eager, this);
  strand_state* const strand = header.ctx->strand();
  if (strand) strand->pin();  // before anybody can wake the body
  body.resume();
  if (strand && ended_at_once_) strand->unpin();
  here.eager = outer;
  here.ctx = ctx;
  const bool has_ended = ended();
  if (!has_ended) [[unlikely]]
    pin_.emplace(&body, "what an eager task refers to");
  if (!has_ended || (header.reserved & task_bit::error)) [[unlikely]]
    if (!ctx_) ctx_ = context_ptr(ctx ? *ctx : context::root());
}

bool eager_state::wait(coroutine_header& header, std::coroutine_handle<> owner) noexcept {
  thread_state& here = this_thread();
  expects(here.binding.running_on != nullptr, "an eager task was awaited outside of any executor, and still runs",
          "await it in a coroutine that was spawned, or sync_wait for it");
  expect_no_lock(here);
  owner_ctx_ = here.ctx;
  header.continuation = {nullptr, owner, here.binding.running_on};
  std::uint32_t seen = running;
  // ORDER: release, pairs with the exchange in end(): it finds whom to wake; acquire on failure, pairs with the same:
  // the result is visible.
  if (word_.compare_exchange_strong(seen, waited_for, std::memory_order_release, std::memory_order_acquire))
    return true;
  if (seen != over)
    fatal("an eager task is awaited by two, or was destroyed while it is awaited",
          "await it in one place, and let it outlive that", header.ctx->name());
  return false;
}

void eager_state::woken() noexcept { this_thread().ctx = owner_ctx_; }

// In the first run nobody has the task yet, so that a store does.
void eager_state::end(coroutine_header& header) noexcept {
  // ORDER: release, pairs with the load in ended(): the result is visible, to whatever thread the task is moved.
  if (this_thread().eager == this) [[likely]] {
    ended_at_once_ = true;
    return word_.store(over, std::memory_order_release);
  }
  if (strand_state* strand = header.ctx->strand()) strand->unpin();
  // ORDER: acq_rel, pairs with the load in ended() and the compare-exchange in wait(): the result is visible, and whom
  // to wake is.
  if (word_.exchange(over, std::memory_order_acq_rel) == waited_for) post(header.continuation);
}

// Its unwinding is over, that of its owner has not begun: that may be awaiting something else.
void eager_state::note_kill() noexcept {
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

void eager_state::note_kill(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    note_kill();
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
