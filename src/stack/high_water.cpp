#include <hocket/base/seam/copy_memory.hpp>
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/base/seam/valgrind.hpp>
#include <hocket/stack/seam/inspection.hpp>
#include <hocket/stack/seam/stack_image.hpp>

#include "stack/memory.hpp"
#include "stack/resident.hpp"

#include <algorithm>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

std::byte* page_of(std::byte* address) noexcept {
  return address - reinterpret_cast<std::uintptr_t>(address) % page_size();
}

// The lowest word in [low, high) that is not zero; `high` if there is none. The words are copied by the kernel, little
// by little (the caller's stack may be small): what lies on a dead stack is nothing that a sanitizer or Valgrind would
// let us read. Where the kernel does not copy, everything counts as used.
const std::byte* first_used(const std::byte* low, const std::byte* high) noexcept {
  std::uint64_t words[64];
  for (const std::byte* at = low; at < high; at += sizeof words) {
    const std::size_t size = std::min(sizeof words, static_cast<std::size_t>(high - at));
    if (!copy_memory(words, at, size)) return at;
    for (std::size_t i = 0; i < size / sizeof *words; ++i)
      if (words[i] != 0) return at + i * sizeof *words;
  }
  return high;
}

// As dropping it would do; but whether a source's memory is zero after that only the source knows.
void clear(const stack_ref& stack) noexcept {
  unpoison_memory(stack.low, stack.size());
  if (under_memcheck) allow_stack_access(stack.low, stack.size());
  const std::size_t page = page_size();
  for (std::byte* at = page_of(stack.low); (at = first_resident(at, stack.top, page)) < stack.top; at += page) {
    std::byte* const from = std::max(at, stack.low);
    std::memset(from, 0, static_cast<std::size_t>(std::min(at + page, stack.top) - from));
  }
}

}  // namespace

namespace detail {

std::size_t high_water_of(const stack_ref& stack) noexcept {
  const std::size_t page = page_size();
  for (std::byte* at = page_of(stack.low); (at = first_resident(at, stack.top, page)) < stack.top; at += page) {
    const std::byte* end = std::min(at + page, stack.top);
    const std::byte* used = first_used(std::max(at, stack.low), end);
    if (used != end) return static_cast<std::size_t>(stack.top - used);
  }
  return 0;
}

}  // namespace detail

// What is left of it is zero. Where stacks share pages, or are one, others' traces stay: there the mark is of them all.
void stack_pool::measure(const stack_ref& stack) noexcept {
  high_water_ = std::max(high_water_, high_water_of(stack));
  if (geometry_.shared || geometry_.stride % page_size() != 0) return;
  if (stack_depot::is_of_source(stack.cell)) return clear(stack);
  const memory_range pages = pages_of(stack);
  drop_memory(pages.first, pages.size);
}

}}  // namespace hocket
