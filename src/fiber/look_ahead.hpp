// The memory of the fibers that come soon.
//
// With more than some thousand fibers all that a switch touches has left the caches, and the translation buffer, too: a
// stack has a page of its own. Waiting for it takes several times as long as the switch and all around it (measured: a
// yield at 30,000 fibers 451 ns without this and 105 with it, docs/decisions/004). So it is asked for early, in two
// steps, because the second needs what the first one brings: the control block of the fiber that comes `far` turns
// later; and of the one `near` turns later, whose control block is there by now, its stack, where it parked, and its
// stop state. Where there never were many fibers nothing of this is done.
#pragma once
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/fiber/detail/control_block.hpp>

#include "fiber/entry.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

[[gnu::always_inline]] inline void prefetch_next_fibers(const run_queue& ready) noexcept {
  constexpr std::size_t near = 8, far = 16;
  if (!ready.is_large()) return;
  const std::coroutine_handle<> later = ready.peek(far);
  if (!later) return;
  prefetch(later.address());
  const auto& soon = *static_cast<const control_block*>(ready.peek(near).address());
  if (soon.head.resume != scheduled_entry_points.resume) return;
  const auto* record = static_cast<const std::byte*>(soon.record);
  prefetch(record);
  prefetch(record + 64);
  prefetch(record + 128);
  static_cast<const scheduled*>(soon.header.ctx)->prefetch();
}

}}}  // namespace hocket::detail
