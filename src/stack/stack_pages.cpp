#include <hocket/base/fatal.hpp>
#include <hocket/stack/stack_pages.hpp>

#include <algorithm>

#include "stack/memory.hpp"

namespace hocket::inline HOCKET_ABI {

memory_range pages_of(const stack_ref& stack) noexcept {
  const std::size_t page = page_size();
  const auto low = reinterpret_cast<std::uintptr_t>(stack.low);
  const auto top = reinterpret_cast<std::uintptr_t>(stack.top);
  const std::uintptr_t first = low / page * page;
  return {reinterpret_cast<std::byte*>(first), (top + page - 1) / page * page - first};
}

bool drop_pages(const memory_range* ranges, std::size_t count) noexcept {
  if (guards_are_markers()) {
    guard_report report = guard_pages(ranges, count);
    if (!report.error && report.split == 0) return true;
    // Locked memory. What was guarded by splitting mappings must not stay so, nor what was guarded in part.
    if (unguard_pages(ranges, std::min(count, report.guarded + 1), report.split)) return true;  // allow_pages() tells
  }
  static_cast<void>(discard_pages(ranges, count));  // what is locked stays in memory
  return false;
}

void allow_pages(const memory_range& range) noexcept {
  std::error_code error = unguard_pages(&range, 1);
  expects(!error, "the pages of a hibernated stack cannot be had back", "raise the memory limit of the process");
}

}  // namespace hocket::inline HOCKET_ABI
