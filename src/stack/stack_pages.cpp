#include <hocket/base/fatal.hpp>
#include <hocket/stack/seam/stack_image.hpp>

#include <algorithm>

#include "stack/memory.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

memory_range pages_of(const stack_ref& stack) noexcept { return pages_of(stack.low, stack.top); }

memory_range pages_of(const std::byte* from, const std::byte* top) noexcept {
  const std::size_t page = page_size();
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(from) / page * page;
  return {reinterpret_cast<std::byte*>(first),
          (reinterpret_cast<std::uintptr_t>(top) + page - 1) / page * page - first};
}

bool drop_pages(const memory_range* stacks, std::size_t count) noexcept { return !discard_pages(stacks, count); }

bool forbid_pages(const memory_range* live, std::size_t count) noexcept {
  if (!guards_are_markers()) return false;
  guard_report report = guard_pages(live, count);
  if (!report.error && report.split == 0) return true;
  // Undoes the guards that split mappings, and a guard that covers only a part.
  const std::error_code error = unguard_pages(live, std::min(count, report.guarded + 1), report.split);
  return bool(error);  // if the undo failed, allow_pages() reports it
}

void allow_pages(const memory_range& live) noexcept {
  std::error_code error = unguard_pages(&live, 1);
  expects(!error, "the pages of a hibernated stack cannot be had back", "raise the memory limit of the process");
}

}}}  // namespace hocket::detail
