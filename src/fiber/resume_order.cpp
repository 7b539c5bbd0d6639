#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/fiber/detail/resume_order.hpp>

#include "fiber/canary.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// A neighbour may belong to another thread, or to none. The value is only used for a prefetch, so a stale one does no
// harm.
template <class T>
[[gnu::no_sanitize_thread]] T glance(const T& word) noexcept {
  return static_cast<const volatile T&>(word);
}

[[gnu::noinline]] void prefetch_end_of(control_block& block) noexcept {
  if (glance(block.header.flags) & fiber_flag::special) prefetch(canary_of(block, glance(block.header.reserved)));
  if (!glance(block.record)) prefetch(stack_depot::top_of(&block) - 64);  // it has finished, and will be destroyed
}

void prefetch_stack_of(control_block& block) noexcept {
  const auto parked = reinterpret_cast<std::uintptr_t>(glance(block.record));
  for (std::uintptr_t offset = 0; offset < 192; offset += 64) prefetch(reinterpret_cast<const void*>(parked + offset));
  if (!parked || glance(block.header.flags) & fiber_flag::special) prefetch_end_of(block);
}

}  // namespace

void follow_order(std::byte*& last, control_block& block) noexcept {
  constexpr std::ptrdiff_t later = 8;  // resumes: the time of a miss of cache and TLB
  const std::ptrdiff_t step = reinterpret_cast<std::byte*>(&block) - last;
  last = reinterpret_cast<std::byte*>(&block);
  if (step != sizeof(control_block) && step != -std::ptrdiff_t{sizeof(control_block)}) return;
  if (void* soon = stack_depot::neighbour_of(&block, step > 0 ? later : -later))
    prefetch_stack_of(*static_cast<control_block*>(soon));
}

}}}  // namespace hocket::detail
