// The memory of a slab, from the system or from a stack_source.
//
// The memory of a source returns to its owner as it was: without guards, and without the marks of sanitizers and
// Valgrind. The marks are also removed before commit() and decommit(), because the source may touch the memory there.
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/base/seam/valgrind.hpp>
#include <hocket/stack/stack_source.hpp>

#include "stack/slab.hpp"
#include "stack/slab_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

using word = stack_slab::word;

// The layout of a slab's memory: the cells, then the stacks.
struct slab_layout {
  bool dense;
  bool huge;
  std::size_t cells;
  std::size_t size;      // of both
  std::size_t at_first;  // the bytes that a source commits before the first use
};

// Whether neighbouring stacks share pages.
bool shares_pages(const stack_geometry& geometry) noexcept {
  return geometry.shared || geometry.stride % page_size() != 0;
}

// Stacks on huge pages begin at a huge page; the cells end there.
result<std::byte*> map_of_system(const slab_layout& layout) noexcept {
  const std::size_t before = huge_page - layout.cells;
  auto memory = layout.huge ? reserve_memory(before + layout.size, huge_page)
                            : reserve_memory(layout.size, stack_slab::alignment);
  if (!memory) return memory;
  std::byte* first = *memory;
  if (layout.huge) {
    return_memory(first, before);
    first += before;
  }
  const memory_range stacks{first + layout.cells, layout.size - layout.cells};
  if (layout.dense) prefer_huge_pages(stacks);
  else forbid_huge_pages(stacks);
  return first;
}

// Zeroes the cells, as in fresh memory: debuggers read the cells of unused stacks, too.
result<std::byte*> map_of_source(stack_source& source, const slab_layout& layout) noexcept {
  auto* const first = static_cast<std::byte*>(source.map(layout.size, stack_slab::alignment));
  if (!first) return failure(std::errc::not_enough_memory);
  expects(reinterpret_cast<std::uintptr_t>(first) % stack_slab::alignment == 0,
          "the map() of a stack_source returned memory that is not aligned",
          "return an address that is a multiple of the alignment which map() is given");
  if (!source.commit(first, layout.at_first)) {
    source.release(first, layout.size);
    return failure(std::errc::not_enough_memory);
  }
  std::memset(first, 0, layout.cells);
  return first;
}

void take_marks_off(memory_range range) noexcept {
  unpoison_memory(range.first, range.size);
  if (under_memcheck) allow_stack_access(range.first, range.size);
}

}  // namespace

// The lowest group of neighbouring bits in a word.
struct stack_slab::neighbours {
  neighbours(word bits, std::size_t longest) noexcept
      : from(static_cast<std::size_t>(std::countr_zero(bits))),
        length(std::min(longest, static_cast<std::size_t>(std::countr_one(bits >> from)))) {}
  word all() const noexcept { return below(length) << from; }

  std::size_t from;
  std::size_t length;
};

// --- a slab

result<stack_slab*> stack_slab::create(stack_depot& depot, const stack_geometry& geometry, const stack_options& options,
                                       std::size_t count, std::size_t before) noexcept {
  const std::size_t stacks = geometry.stride * (geometry.shared ? 1 : count);
  slab_layout layout{};
  layout.dense = options.layout == stack_layout::dense;
  layout.huge = layout.dense && stacks >= huge_page && !options.source;
  layout.cells = layout.huge ? alignment : round_up((head_cells + count) * cell_size, page_size());
  layout.size = round_up(layout.cells + stacks, page_size());
  layout.at_first = shares_pages(geometry) ? layout.size : layout.cells;
  const auto memory = options.source ? map_of_source(*options.source, layout) : map_of_system(layout);
  if (!memory) return failure(memory.error());
  auto* slab = ::new (static_cast<void*>(*memory))
      stack_slab(depot, geometry, *memory + layout.cells, options, layout.size, count, before);
  if (!enter_slab(*slab)) {
    destroy(slab);
    return failure(std::errc::not_enough_memory);
  }
  return slab;
}

void stack_slab::destroy(stack_slab* slab) noexcept {
  leave_slab(*slab);
  auto* first = reinterpret_cast<std::byte*>(slab);
  const std::size_t size = slab->size_;
  stack_source* const source = slab->source_;
  if (source) slab->remove_guards();
  else forget_guards(slab->split_);
  slab->~stack_slab();
  take_marks_off({first, size});  // for the next owner
  if (source) source->release(first, size);
  else return_memory(first, size);
}

// One call for all guards; it does not change the memory between them.
void stack_slab::remove_guards() noexcept {
  // ORDER: relaxed, pairs with nothing: all stacks were returned under the lock.
  if (guarded_.load(std::memory_order_relaxed) == 0) return;
  const memory_range stacks{stacks_, size_ - static_cast<std::size_t>(stacks_ - reinterpret_cast<std::byte*>(this))};
  std::error_code error = unguard_pages(&stacks, 1);
  if (!error && split_ != 0) error = unguard_pages(&stacks, 1, split_);
  expects(!error, "the guards of stacks cannot be taken out of the memory of a stack_source",
          "raise vm.max_map_count or the memory limit of the process");
}

// --- the pages of its stacks

word stack_slab::commit(const stack_run& run) const noexcept {
  if (!source_ || shares_pages(geometry_)) return run.remaining;
  for (word remaining = run.remaining & ~dirty_[run.first / word_bits]; remaining;) {
    const neighbours next(remaining, most_at_once());
    const memory_range range = pages_of(run.first, next);
    take_marks_off(range);
    if (!source_->commit(range.first, range.size)) return run.remaining & below(next.from);
    remaining &= ~next.all();
  }
  return run.remaining;
}

memory_range stack_slab::pages_of(std::size_t first, const neighbours& group) const noexcept {
  const memory_range lowest = pages(first + group.from);
  return {lowest.first, lowest.size + (group.length - 1) * geometry_.stride};
}

std::size_t stack_slab::pages_of(const stack_run& run, memory_range* ranges) const noexcept {
  std::size_t count = 0;
  for (word remaining = run.remaining; remaining;) {
    const neighbours next(remaining, most_at_once());
    ranges[count++] = pages_of(run.first, next);
    remaining &= ~next.all();
  }
  return count;
}

bool stack_slab::discard(const stack_run& run) const noexcept {
  std::array<memory_range, word_bits> ranges;
  const std::size_t count = pages_of(run, ranges.data());
  if (!source_) return !discard_pages(ranges.data(), count);
  bool all = true;
  for (std::size_t i = 0; i < count; ++i) {
    take_marks_off(ranges[i]);
    all = source_->decommit(ranges[i].first, ranges[i].size) && all;
    poison_memory(ranges[i].first, ranges[i].size);
  }
  return all;
}

}}}  // namespace hocket::detail
