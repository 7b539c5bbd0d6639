#include "stack/slab.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

using word = stack_slab::word;

// The lowest `count` of the bits that are set.
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
  free_[run.first / word_bits] |= run.remaining;
  free_count_ += ones(run.remaining);
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

}}}  // namespace hocket::detail
