#include <hocket/core/current.hpp>
#include <hocket/core/operation.hpp>
#include <hocket/core/scheduled.hpp>

namespace hocket::inline HOCKET_ABI {

void detail::throw_unwinding() { throw forced_unwind{}; }

bool detail::can_let_others_run() noexcept {
  thread_state& here = this_thread();
  const scheduled* const self = here.ctx ? here.ctx->strand() : nullptr;
  if (here.seat.running_on && !here.eager && !(self && self->unwinding()) && !leaving_by_failure()) return true;
  begin_budget(here);
  return false;
}

failure failure_of(verdict outcome) {
  if (outcome == verdict::killed) {
    if (scheduled* self = current_context().strand()) self->begin_unwinding();
    detail::throw_unwinding();
  }
  return failure(outcome == verdict::timed_out ? std::errc::timed_out : std::errc::operation_canceled);
}

}  // namespace hocket::inline HOCKET_ABI
