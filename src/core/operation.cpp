#include <hocket/core/current.hpp>
#include <hocket/core/operation.hpp>
#include <hocket/core/scheduled.hpp>

namespace hocket::inline HOCKET_ABI {

void detail::throw_unwinding() { throw forced_unwind{}; }

failure failure_of(verdict outcome) {
  if (outcome == verdict::killed) {
    if (scheduled* self = current_context().strand()) self->begin_unwinding();
    detail::throw_unwinding();
  }
  return failure(outcome == verdict::timed_out ? std::errc::timed_out : std::errc::operation_canceled);
}

}  // namespace hocket::inline HOCKET_ABI
