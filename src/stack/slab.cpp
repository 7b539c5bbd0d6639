#include "stack/slab.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

using word = stack_slab::word;

// The lowest `count` set bits.
word lowest(word bits, std::size_t count) noexcept {
  word rest = bits;
  while (rest && count--) rest &= rest - 1;
  return bits & ~rest;
}

std::uint32_t ones(word bits) noexcept { return static_cast<std::uint32_t>(std::popcount(bits)); }

}  // namespace

void write_canary(std::byte* low) noexcept { std::memcpy(low - canary_size, canary_words, canary_size); }

stack_slab::stack_slab(stack_depot& depot, const stack_geometry& geometry, std::byte* stacks,
                       const stack_options& options, std::size_t size, std::size_t count, std::size_t before) noexcept
    : depot_(depot),
      source_(options.source),
      stacks_(stacks),
      geometry_(geometry),
      size_(size),
      count_(static_cast<std::uint32_t>(count)),
      number_(static_cast<std::uint32_t>(before)),
      protection_(options.layout == stack_layout::dense ? guard::canary : options.protection),
      free_count_(count_) {
  for (std::size_t i = 0; i * word_bits < count; ++i) free_[i] = below(count - i * word_bits);
}

// --- lending

std::error_code stack_slab::lend(stack_run& run, std::size_t most_stacks, std::size_t& unguarded) noexcept {
  std::size_t at = 0;
  while (!free_[at]) ++at;
  const std::size_t first = at * word_bits;
  word taken = commit({this, first, lowest(free_[at], most_stacks)});
  if (!taken) return std::make_error_code(std::errc::not_enough_memory);
  const std::size_t end = first + word_bits - static_cast<std::size_t>(std::countl_zero(taken));
  std::error_code error;
  if (end > initialized()) error = initialize(end, unguarded);
  if (end > initialized()) taken &= initialized() > first ? below(initialized() - first) : 0;
  if (!taken) return error;
  free_[at] &= ~taken;
  free_count_ -= ones(taken);
  dirty_count_ -= ones(dirty_[at] & taken);
  dirty_[at] &= ~taken;
  run = {this, first, taken};
  return {};
}

// All stacks share one guard, which the first loan makes.
guard_report stack_slab::guard_shared(memory_range guard, std::size_t count) const noexcept {
  if (initialized() != 0) return {count, 0, {}};
  guard_report report = guard_pages(&guard, 1);
  return {report.guarded * count, report.split, report.error};
}

// Initializes the stacks below `end`, at most 64 of them. With guard::required it stops at the first refused guard.
std::error_code stack_slab::initialize(std::size_t end, std::size_t& unguarded) noexcept {
  if (protection_ == guard::canary) {
    set_initialized(end);
    return {};
  }
  const std::uint32_t before = initialized();
  // ORDER: relaxed, pairs with nothing: written under the lock.
  const std::uint32_t guarded = guarded_.load(std::memory_order_relaxed);
  guard_report report{0, 0, {}};
  if (guarded == before) {
    std::array<memory_range, word_bits> guards;
    for (std::size_t i = before; i < end; ++i) guards[i - before] = {low_end(i), geometry_.guard};
    report = geometry_.shared ? guard_shared(guards[0], end - before) : guard_pages(guards.data(), end - before);
  }
  split_ += static_cast<std::uint32_t>(report.split);
  // ORDER: relaxed, pairs with the load in at(): the reader's stack was lent after this store, under the lock.
  guarded_.store(guarded + static_cast<std::uint32_t>(report.guarded), std::memory_order_relaxed);
  const std::size_t without = end - before - report.guarded;
  if (protection_ == guard::preferred) unguarded += without;
  set_initialized(protection_ == guard::preferred ? end : end - without);
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
  free_[run.first / word_bits] |= run.remaining;
  free_count_ += ones(run.remaining);
}

// --- trimming

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

std::size_t stack_slab::next_initialized(std::size_t index) const noexcept {
  for (; index < initialized(); ++index) {
    const word bit = word{1} << index % word_bits;
    if (!(free_[index / word_bits] & bit) || (dirty_[index / word_bits] & bit)) return index;
  }
  return count_;
}

// --- one stack

free_stack stack_slab::at(std::size_t index) const noexcept {
  // ORDER: relaxed, pairs with the store in initialize(): a stack is initialized before it is lent.
  const bool canary = index >= guarded_.load(std::memory_order_relaxed);
  auto cells = reinterpret_cast<std::uintptr_t>(this) + (head_cells + index) * cell_size;
  return {cells + static_cast<std::uintptr_t>(canary), top(index)};
}

void* stack_slab::cell_at(std::uintptr_t address) const noexcept {
  const std::size_t index = (address - reinterpret_cast<std::uintptr_t>(stacks_)) / geometry_.stride;
  if (geometry_.shared || index >= initialized()) return nullptr;
  return reinterpret_cast<void*>(at(index).cell & ~std::uintptr_t{1});
}

}}}  // namespace hocket::detail
