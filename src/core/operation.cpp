#include <hocket/core/current.hpp>
#include <hocket/core/operation.hpp>
#include <hocket/core/scheduled.hpp>

namespace hocket::inline HOCKET_ABI {

void detail::throw_unwinding() { throw forced_unwind{}; }

namespace {

// A cancel is the time-out of whoever has a deadline that others keep, and of all that it has spawned below itself.
bool was_too_late(verdict outcome) noexcept {
  if (outcome == verdict::timed_out) return true;
  for (const context* at = &current_context(); at; at = at->parent()) {
    if (const scheduled* const whose = at->strand(); whose && whose->timed_out()) return true;
  }
  return false;
}

}  // namespace

failure failure_of(verdict outcome) {
  if (outcome == verdict::killed) {
    if (scheduled* self = current_context().strand()) self->begin_unwinding();
    detail::throw_unwinding();
  }
  return failure(was_too_late(outcome) ? std::errc::timed_out : std::errc::operation_canceled);
}

}  // namespace hocket::inline HOCKET_ABI
