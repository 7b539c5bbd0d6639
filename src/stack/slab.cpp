#include "stack/slab.hpp"

#include <hocket/base/detail/platform/poison.hpp>

#include "stack/slab_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace hocket::inline HOCKET_ABI::detail {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

using word = stack_slab::word;

// The lowest `count` of the bits that are set.
word lowest(word bits, std::size_t count) noexcept {
  word rest = bits;
  while (rest && count--) rest &= rest - 1;
  return bits & ~rest;
}

word below(std::size_t bit) noexcept { return bit >= stack_slab::word_bits ? ~word{0} : (word{1} << bit) - 1; }

std::uint32_t ones(word bits) noexcept { return static_cast<std::uint32_t>(std::popcount(bits)); }

}  // namespace

void write_canary(std::byte* low) noexcept { std::memcpy(low - canary_size, canary_words, canary_size); }

// --- its mapping

// Stacks on huge pages begin at one: the cells lie right in front of it.
result<stack_slab*> stack_slab::create(stack_depot& depot, const stack_geometry& geometry, stack_layout layout,
                                       guard protection, std::size_t count, std::size_t before) noexcept {
  const std::size_t stacks = geometry.stride * (geometry.shared ? 1 : count);
  const bool huge = layout == stack_layout::dense && stacks >= huge_page;
  const std::size_t cells = huge ? alignment : round_up((head_cells + count) * cell_size, page_size());
  const std::size_t size = round_up(cells + stacks, page_size());
  auto memory = huge ? reserve_memory(huge_page + stacks, huge_page) : reserve_memory(size, alignment);
  if (!memory) return failure(memory.error());
  std::byte* first = *memory;
  if (huge) {
    return_memory(first, huge_page - cells);
    first += huge_page - cells;
  }
  const memory_range range{first + cells, size - cells};
  if (layout == stack_layout::dense) prefer_huge_pages(range);
  else forbid_huge_pages(range);
  auto* slab =
      ::new (static_cast<void*>(first)) stack_slab(depot, geometry, first + cells, protection, size, count, before);
  if (!enter_slab(*slab)) {
    destroy(slab);
    return failure(std::errc::not_enough_memory);
  }
  return slab;
}

stack_slab::stack_slab(stack_depot& depot, const stack_geometry& geometry, std::byte* stacks, guard protection,
                       std::size_t size, std::size_t count, std::size_t before) noexcept
    : depot_(depot),
      stacks_(stacks),
      geometry_(geometry),
      size_(size),
      count_(static_cast<std::uint32_t>(count)),
      number_(static_cast<std::uint32_t>(before)),
      protection_(protection),
      free_count_(count_) {
  for (std::size_t i = 0; i * word_bits < count; ++i) free_[i] = below(count - i * word_bits);
}

void stack_slab::destroy(stack_slab* slab) noexcept {
  leave_slab(*slab);
  forget_guards(slab->split_);
  auto* first = reinterpret_cast<std::byte*>(slab);
  unpoison_memory(slab->stacks_, static_cast<std::size_t>(first + slab->size_ - slab->stacks_));  // for whoever is next
  const std::size_t size = slab->size_;
  slab->~stack_slab();
  return_memory(first, size);
}

// --- lending

std::error_code stack_slab::lend(stack_run& run, std::size_t most_stacks, std::size_t& unguarded) noexcept {
  std::size_t at = 0;
  while (!free_[at]) ++at;
  const std::size_t first = at * word_bits;
  word taken = lowest(free_[at], most_stacks);
  const std::size_t upto = first + word_bits - static_cast<std::size_t>(std::countl_zero(taken));
  std::error_code error;
  if (upto > made()) error = make(upto, unguarded);
  if (upto > made()) taken &= made() > first ? below(made() - first) : 0;
  if (!taken) return error;
  free_[at] &= ~taken;
  free_count_ -= ones(taken);
  dirty_count_ -= ones(dirty_[at] & taken);
  dirty_[at] &= ~taken;
  run = {this, first, taken};
  return {};
}

// One guard is that of all, and is made for the first ones.
guard_report stack_slab::guard_shared(memory_range guard, std::size_t count) const noexcept {
  if (made() != 0) return {count, 0, {}};
  guard_report report = guard_pages(&guard, 1);
  return {report.guarded * count, report.split, report.error};
}

// Makes the stacks below `upto`, at most 64 of them, as far as guards are to be had.
std::error_code stack_slab::make(std::size_t upto, std::size_t& unguarded) noexcept {
  if (protection_ == guard::canary) return set_made(upto), std::error_code{};
  const std::uint32_t before = made();
  // ORDER: relaxed, pairs with nothing: it is written under the lock.
  const std::uint32_t guarded = guarded_.load(std::memory_order_relaxed);
  guard_report report{0, 0, {}};
  if (guarded == before) {
    std::array<memory_range, word_bits> guards;
    for (std::size_t i = before; i < upto; ++i) guards[i - before] = {low_end(i), geometry_.guard};
    report = geometry_.shared ? guard_shared(guards[0], upto - before) : guard_pages(guards.data(), upto - before);
  }
  split_ += static_cast<std::uint32_t>(report.split);
  // ORDER: relaxed, pairs with the load in at(): whoever asks about a stack was lent it after this, under the lock.
  guarded_.store(guarded + static_cast<std::uint32_t>(report.guarded), std::memory_order_relaxed);
  const std::size_t without = upto - before - report.guarded;
  if (protection_ == guard::preferred) unguarded += without;
  set_made(protection_ == guard::preferred ? upto : upto - without);
  return report.error;
}

void stack_slab::put(free_stack stack, bool dirty) noexcept {
  const std::size_t index = index_of(reinterpret_cast<void*>(stack.cell));
  put(stack_run{this, index / word_bits * word_bits, word{1} << index % word_bits});
  if (!dirty) return;
  dirty_[index / word_bits] |= word{1} << index % word_bits;
  ++dirty_count_;
}

void stack_slab::put(const stack_run& run) noexcept {
  free_[run.first / word_bits] |= run.left;
  free_count_ += ones(run.left);
}

// --- giving back

stack_run stack_slab::take_dirty() noexcept {
  std::size_t at = 0;
  while (!dirty_[at]) ++at;
  const word taken = dirty_[at];
  dirty_[at] = 0;
  dirty_count_ -= ones(taken);
  free_[at] &= ~taken;
  free_count_ -= ones(taken);
  return {this, at * word_bits, taken};
}

free_stack stack_slab::take_first_dirty() noexcept {
  std::size_t at = 0;
  while (!dirty_[at]) ++at;
  const word bit = dirty_[at] & (~dirty_[at] + 1);
  dirty_[at] &= ~bit;
  free_[at] &= ~bit;
  --dirty_count_;
  --free_count_;
  return this->at(at * word_bits + static_cast<std::size_t>(std::countr_zero(bit)));
}

std::size_t stack_slab::pages_of(const stack_run& run, memory_range* ranges) const noexcept {
  std::size_t count = 0;
  for (word left = run.left; left;) {
    const auto from = static_cast<std::size_t>(std::countr_zero(left));
    const auto length = static_cast<std::size_t>(std::countr_one(left >> from));
    const memory_range first = pages(run.first + from);
    ranges[count++] = {first.first, first.size + (length - 1) * geometry_.stride};  // guards between them stay
    left &= ~(below(length) << from);
  }
  return count;
}

std::size_t stack_slab::next_made(std::size_t index) const noexcept {
  for (; index < made(); ++index) {
    const word bit = word{1} << index % word_bits;
    if (!(free_[index / word_bits] & bit) || (dirty_[index / word_bits] & bit)) return index;
  }
  return count_;
}

// --- one stack

free_stack stack_slab::at(std::size_t index) const noexcept {
  // ORDER: relaxed, pairs with the store in make(): the stack was made before it was lent.
  const bool canary = index >= guarded_.load(std::memory_order_relaxed);
  auto cells = reinterpret_cast<std::uintptr_t>(this) + (head_cells + index) * cell_size;
  return {cells + static_cast<std::uintptr_t>(canary), top(index)};
}

void* stack_slab::cell_at(std::uintptr_t address) const noexcept {
  const std::size_t index = (address - reinterpret_cast<std::uintptr_t>(stacks_)) / geometry_.stride;
  if (geometry_.shared || index >= made()) return nullptr;
  return reinterpret_cast<void*>(at(index).cell & ~std::uintptr_t{1});
}

}  // namespace hocket::inline HOCKET_ABI::detail
