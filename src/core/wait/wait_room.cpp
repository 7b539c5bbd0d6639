#include <hocket/core/frame_memory.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/core/wait/seam/wait_room.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// AddressSanitizer then finds the use of a room after the wait.
constexpr bool keeps_rooms = sanitizer != sanitizer_kind::asan;

wait_end wait_room::finish() noexcept {
  const wait_end cause = static_cast<wait_end>(wait.claim_.state());
  wait.finished_ = true;
  this_thread().ctx = wait.ctx_;
  strand_state* const self = wait.ctx_->strand();
  if constexpr (debug_checks) this->~wait_room();
  if (self) [[likely]] {
    self->runs_again();
    if (keeps_rooms && self->store_room(*this)) [[likely]]
      return cause;
  }
  release(this);
  return cause;
}

void wait_room::drop() noexcept {
  this->~wait_room();
  release(this);
}

void wait_room::release(wait_room* room) noexcept { release_frame(room, sizeof(wait_room)); }

}}}  // namespace hocket::detail
