#include <hocket/core/current.hpp>
#include <hocket/core/operation.hpp>
#include <hocket/core/scheduled.hpp>

#include <new>

namespace hocket::inline HOCKET_ABI {

void detail::throw_unwinding() { throw forced_unwind{}; }
void detail::throw_roomless() { throw std::bad_alloc(); }

namespace {

// True: the wait itself has timed out, or its coroutine was cancelled for a deadline that a manager keeps.
bool was_too_late(verdict outcome) noexcept {
  const stop_source* const stop = current_context().stop();
  return outcome == verdict::timed_out || (stop && stop->timed_out());
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
