// Prefetches the memory of the next fibers.
//
// With more than some thousand fibers everything that a switch touches has left the caches, and the translation buffer,
// too: each stack has its own page. Waiting for it takes several times as long as the switch itself (measured: a yield
// at 30,000 fibers takes 451 ns without the prefetch and 105 with it, docs/decisions/004). So it is prefetched in two
// steps, because the second needs the memory of the first: the control block of the fiber `far` turns later; and for
// the fiber `near` turns later, with its control block now in the cache, its stack at the parked place, and its stop
// state. If there never were many fibers, nothing is done.
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
