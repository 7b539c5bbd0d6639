#include "stack/slab.hpp"

#include "stack/memory.hpp"

#include <hocket/base/platform/poison.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace hocket::inline HOCKET_ABI {
namespace {

constexpr std::size_t colour_step = 320;
constexpr std::size_t colour_span = 3072;
constexpr std::size_t canary_size = 16;
constexpr std::uint64_t canary_words[2] = {0x9a3c5e7fb1d20846u, 0x46820d1bf7e5c3a9u};
static_assert(sizeof canary_words == canary_size);

}  // namespace

void write_canary(std::byte* low) noexcept { std::memcpy(low - canary_size, canary_words, canary_size); }

bool canary_intact(const std::byte* low) noexcept {
  return std::memcmp(low - canary_size, canary_words, canary_size) == 0;
}

result<stack_slab*> stack_slab::create(stack_pool& owner, std::size_t stride, std::size_t count,
                                       std::size_t before) noexcept {
  auto stacks = reserve_memory(stride * count, page);
  if (!stacks) return failure(stacks.error());
  forbid_huge_pages({*stacks, stride * count});
  auto cells = reserve_memory(alignment, alignment);
  if (!cells) {
    return_memory(*stacks, stride * count);
    return failure(cells.error());
  }
  return ::new (static_cast<void*>(*cells)) stack_slab(owner, *stacks, stride, count, before);
}

void stack_slab::destroy(stack_slab* slab) noexcept {
  forget_guards(slab->split_);
  unpoison_memory(slab->stacks_, slab->stride_ * slab->count_);  // the next to be mapped here is not ours
  return_memory(slab->stacks_, slab->stride_ * slab->count_);
  return_memory(reinterpret_cast<std::byte*>(slab), alignment);
}

stack_slab& stack_slab::of(void* cell) noexcept {
  auto address = reinterpret_cast<std::uintptr_t>(cell);
  return *reinterpret_cast<stack_slab*>(address - address % alignment);
}

result<stack_ref> stack_slab::carve(guard protection) noexcept {
  if (protection != guard::canary && guarded_ == carved_)
    if (std::error_code error = guard_some(); error && protection == guard::required) return failure(error);
  stack_ref stack = at(carved_++);
  if (stack.canary) write_canary(stack.low);
  return stack;
}

// Guards the next few stacks in one go. A stack that was carved without a guard stays so: guarded_ counts a prefix.
std::error_code stack_slab::guard_some() noexcept {
  const std::size_t count = std::min<std::size_t>(guard_batch, count_ - guarded_);
  std::array<memory_range, guard_batch> pages;
  for (std::size_t i = 0; i < count; ++i) pages[i] = {guard_page(guarded_ + i), page};
  const guard_report report = guard_pages(pages.data(), count);
  guarded_ += static_cast<std::uint32_t>(report.guarded);
  split_ += static_cast<std::uint32_t>(report.split);
  return report.guarded ? std::error_code{} : report.error;
}

stack_ref stack_slab::stack_of(void* cell) const noexcept {
  auto distance = static_cast<std::byte*>(cell) - reinterpret_cast<const std::byte*>(this);
  return at(static_cast<std::size_t>(distance) / cell_size - 1);
}

stack_ref stack_slab::at(std::size_t index) const noexcept {
  std::byte* bottom = guard_page(index) + page;
  std::byte* top = guard_page(index) + stride_ - (first_colour_ + index) * colour_step % colour_span;
  bool canary = index >= guarded_;
  auto* cells = reinterpret_cast<std::byte*>(const_cast<stack_slab*>(this));
  return {bottom + (canary ? canary_size : 0), top, cells + (index + 1) * cell_size, canary};
}

}  // namespace hocket::inline HOCKET_ABI
