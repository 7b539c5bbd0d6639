// What a slab asks of the system, or of the stack_source whose memory it is.
//
// A source's memory is its owner's before and after: it goes back as it came, without guards, and without the marks of
// sanitizers and Valgrind. They are taken off, too, where the source may touch memory: in commit() and decommit().
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

// How a slab's memory is divided: the cells, then the stacks.
struct plan {
  bool dense;
  bool huge;
  std::size_t cells;
  std::size_t size;      // of both
  std::size_t at_first;  // of these: what a source commits before the slab is used
};

// Whether no stack has pages of its own.
bool shares_pages(const stack_geometry& geometry) noexcept {
  return geometry.shared || geometry.stride % page_size() != 0;
}

// Stacks on huge pages begin at one: the cells lie right in front of it.
result<std::byte*> map_of_system(const plan& of) noexcept {
  const std::size_t before = huge_page - of.cells;
  auto memory = of.huge ? reserve_memory(before + of.size, huge_page) : reserve_memory(of.size, stack_slab::alignment);
  if (!memory) return memory;
  std::byte* first = *memory;
  if (of.huge) {
    return_memory(first, before);
    first += before;
  }
  const memory_range stacks{first + of.cells, of.size - of.cells};
  if (of.dense) prefer_huge_pages(stacks);
  else forbid_huge_pages(stacks);
  return first;
}

// The cells are zero, as in fresh memory: debuggers look at those of stacks that were never used.
result<std::byte*> map_of_source(stack_source& source, const plan& of) noexcept {
  auto* const first = static_cast<std::byte*>(source.map(of.size, stack_slab::alignment));
  if (!first) return failure(std::errc::not_enough_memory);
  expects(reinterpret_cast<std::uintptr_t>(first) % stack_slab::alignment == 0,
          "the map() of a stack_source returned memory that is not aligned",
          "return an address that is a multiple of the alignment which map() is given");
  if (!source.commit(first, of.at_first)) {
    source.release(first, of.size);
    return failure(std::errc::not_enough_memory);
  }
  std::memset(first, 0, of.cells);
  return first;
}

void take_marks_off(memory_range range) noexcept {
  unpoison_memory(range.first, range.size);
  if (under_memcheck) allow_stack_access(range.first, range.size);
}

}  // namespace

// The lowest of a word's bits that are neighbours.
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
  plan of{};
  of.dense = options.layout == stack_layout::dense;
  of.huge = of.dense && stacks >= huge_page && !options.source;
  of.cells = of.huge ? alignment : round_up((head_cells + count) * cell_size, page_size());
  of.size = round_up(of.cells + stacks, page_size());
  of.at_first = shares_pages(geometry) ? of.size : of.cells;
  const auto memory = options.source ? map_of_source(*options.source, of) : map_of_system(of);
  if (!memory) return failure(memory.error());
  auto* slab = ::new (static_cast<void*>(*memory))
      stack_slab(depot, geometry, *memory + of.cells, options, of.size, count, before);
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

// By one call for all: what lies between them is as it was.
void stack_slab::remove_guards() noexcept {
  // ORDER: relaxed, pairs with nothing: all stacks came back under the lock.
  if (guarded_.load(std::memory_order_relaxed) == 0) return;
  const memory_range stacks{stacks_, size_ - static_cast<std::size_t>(stacks_ - reinterpret_cast<std::byte*>(this))};
  std::error_code error = unguard_pages(&stacks, 1);
  if (!error && split_ != 0) error = unguard_pages(&stacks, 1, split_);
  expects(!error, "the guards of stacks cannot be taken out of the memory of a stack_source",
          "raise vm.max_map_count or the memory limit of the process");
}

// --- the pages of its stacks

word stack_slab::commit(const stack_run& wanted) const noexcept {
  if (!source_ || shares_pages(geometry_)) return wanted.remaining;
  for (word left = wanted.remaining & ~dirty_[wanted.first / word_bits]; left;) {
    const neighbours next(left, most_at_once());
    const memory_range range = pages_of(wanted.first, next);
    take_marks_off(range);
    if (!source_->commit(range.first, range.size)) return wanted.remaining & below(next.from);
    left &= ~next.all();
  }
  return wanted.remaining;
}

memory_range stack_slab::pages_of(std::size_t first, const neighbours& some) const noexcept {
  const memory_range lowest = pages(first + some.from);
  return {lowest.first, lowest.size + (some.length - 1) * geometry_.stride};
}

std::size_t stack_slab::pages_of(const stack_run& run, memory_range* ranges) const noexcept {
  std::size_t count = 0;
  for (word left = run.remaining; left;) {
    const neighbours next(left, most_at_once());
    ranges[count++] = pages_of(run.first, next);
    left &= ~next.all();
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
