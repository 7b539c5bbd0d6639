#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>

#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void throw_unwinding() { throw forced_unwind{}; }
void throw_roomless() { throw std::bad_alloc(); }

namespace {

// Whether the wait itself has timed out, or a manager has cancelled its coroutine for a deadline.
bool was_too_late(wait_end cause) noexcept {
  const stop_source* const stop = current_context().stop();
  return cause == wait_end::timed_out || (stop && stop->timed_out());
}

}  // namespace

failure failure_of(wait_end cause) {
  if (cause == wait_end::killed) {
    if (strand_state* self = current_context().strand()) self->begin_unwinding();
    throw_unwinding();
  }
  return failure(was_too_late(cause) ? errc::deadline_exceeded : errc::cancelled);
}

}}}  // namespace hocket::detail
