// A slab: a mapping with stacks of one size and, before them, their cells.
//
//     | head | cells, 64 bytes each | ... | stack 0 | stack 1 | ...
//     ^ aligned to 64 KiB, so that masking a cell's address gives the head
//
// A control block lives in a cell, apart from the stack, so that a scan over many coroutines touches little memory.
//
// Two bitmaps, with a bit for each stack:
//
//   free_    the stack is in the slab: dirty or cold
//   dirty_   the stack is in the slab, and its pages have been used
//
// Stacks are *initialized* in order, at the first loan. That decides their protection: a stack below `guarded_` has a
// guard page, any other a canary. If the system refuses a guard page, no later stack of the slab gets one, so one
// number is enough.
//
// Access. The depot's lock guards everything but the constants and two numbers that only grow. `guarded_`: any thread
// may read it for a lent stack, because the protection of that stack is final. `initialized_`: cell_at() reads it in a
// signal handler.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/stack/stack_depot.hpp>

#include "stack/memory.hpp"

#include <bit>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class stack_slab {
 public:
  static constexpr std::size_t cell_size = 64;
  static constexpr std::size_t alignment = 64 * 1024;
  static constexpr std::size_t head_cells = under_model ? 8 : 6;  // the checker's atomics are larger
  static constexpr std::size_t most = alignment / cell_size - head_cells;
  static constexpr std::size_t word_bits = 64;
  static constexpr std::size_t words = 16;
  using word = std::uint64_t;
  static constexpr word below(std::size_t bit) noexcept { return bit >= word_bits ? ~word{0} : (word{1} << bit) - 1; }

  // `before`: the number of stacks in the depot's other slabs; the colours continue there. Uses the layout, protection
  // and source of `options`.
  static result<stack_slab*> create(stack_depot& depot, const stack_geometry& geometry, const stack_options& options,
                                    std::size_t count, std::size_t before) noexcept;
  static void destroy(stack_slab* slab) noexcept;

  static stack_slab& slab_of(const void* cell) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(cell);
    return *reinterpret_cast<stack_slab*>(address & ~std::uintptr_t{alignment - 1});
  }
  static stack_slab& slab_of(free_stack stack) noexcept { return slab_of(reinterpret_cast<void*>(stack.cell)); }

  // The depot's links, by age.
  stack_slab* older = nullptr;
  stack_slab* newer = nullptr;

  // See stack_depot::resident_of().
  void* resident = nullptr;

  stack_depot& depot() const noexcept { return depot_; }
  stack_source* source() const noexcept { return source_; }
  std::size_t count() const noexcept { return count_; }
  std::size_t reserved() const noexcept { return size_; }
  bool older_than(const stack_slab& other) const noexcept { return number_ < other.number_; }
  bool has_free() const noexcept { return free_count_ != 0; }
  bool has_dirty() const noexcept { return dirty_count_ != 0; }
  bool wholly_free() const noexcept { return free_count_ == count_; }
  std::size_t free_count() const noexcept { return free_count_; }
  std::size_t dirty_count() const noexcept { return dirty_count_; }

  // Takes up to `most_stacks` free stacks out of one word of the map, and protects new ones. Adds the number of stacks
  // without a guard page to `unguarded`. The slab must have a free stack.
  std::error_code lend(stack_run& run, std::size_t most_stacks, std::size_t& unguarded) noexcept;

  // Returns a stack: dirty, or as clean as it was.
  void put(free_stack stack, bool dirty) noexcept;
  void put(const stack_run& run) noexcept;

  // Takes the dirty stacks of one word out of the maps; put() returns them, cold.
  stack_run take_dirty() noexcept;
  // Takes the first dirty stack, to be warm again.
  free_stack take_first_dirty() noexcept;

  // Returns the pages of a run to the system or the source. False: some of them were refused.
  bool discard(const stack_run& run) const noexcept;

  free_stack at(std::size_t index) const noexcept;
  stack_ref stack_of(void* cell) const noexcept { return geometry_.stack(at(index_of(cell))); }
  std::byte* top_of(const void* cell) const noexcept { return top(index_of(cell)); }
  memory_range pages(std::size_t index) const noexcept {
    return {low_end(index) + geometry_.guard, geometry_.stride - geometry_.guard};
  }
  void* neighbour_of(void* cell, std::ptrdiff_t distance) const noexcept {
    const std::size_t index = index_of(cell) + static_cast<std::size_t>(distance);
    return index < count_ ? static_cast<std::byte*>(cell) + distance * std::ptrdiff_t{cell_size} : nullptr;
  }
  // For slab_table.hpp.
  bool holds(std::uintptr_t address) const noexcept {
    const auto stacks = reinterpret_cast<std::uintptr_t>(stacks_);
    return address >= stacks && address < reinterpret_cast<std::uintptr_t>(this) + size_;
  }
  // The cell of the stack that contains `address`, in its guard page, too. Null for shared stacks: they belong to no
  // single cell.
  void* cell_at(std::uintptr_t address) const noexcept;
  // All stacks that were lent at least once are below this index. For a reader of all cells, while no thread runs.
  std::size_t lent() const noexcept { return initialized(); }
  void* cell(std::size_t index) noexcept {
    return reinterpret_cast<std::byte*>(this) + (head_cells + index) * cell_size;
  }
  bool is_shared() const noexcept { return geometry_.shared; }
  // The first stack with pages at or after `index`; count() if there is none.
  std::size_t next_initialized(std::size_t index) const noexcept;

 private:
  std::byte* low_end(std::size_t index) const noexcept {
    return stacks_ + (geometry_.shared ? 0 : index * geometry_.stride);
  }
  stack_slab(stack_depot& depot, const stack_geometry& geometry, std::byte* stacks, const stack_options& options,
             std::size_t size, std::size_t count, std::size_t before) noexcept;

  std::byte* top(std::size_t index) const noexcept {
    return low_end(index) + geometry_.stride - geometry_.colour(number_ + index);
  }
  // ORDER: relaxed, pairs with nothing: written under the lock; cell_at() accepts an older number.
  std::uint32_t initialized() const noexcept { return initialized_.load(std::memory_order_relaxed); }
  void set_initialized(std::size_t count) noexcept {
    // ORDER: relaxed, as above.
    initialized_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  }
  std::error_code initialize(std::size_t end, std::size_t& unguarded) noexcept;
  // Returns the stacks of a run that have memory now: all before the first one that the source refuses.
  word commit(const stack_run& run) const noexcept;
  // The pages of a run; neighbours are one range. Returns the number of ranges; `ranges` has space for 64.
  std::size_t pages_of(const stack_run& run, memory_range* ranges) const noexcept;
  // The greatest number of neighbours in one range. The range includes the guards between them: discard_pages() leaves
  // these as they are, but a source that uses mprotect would remove them.
  std::size_t most_at_once() const noexcept { return source_ && geometry_.guard ? 1 : word_bits; }
  struct neighbours;
  memory_range pages_of(std::size_t first, const neighbours& group) const noexcept;
  void remove_guards() noexcept;
  guard_report guard_shared(memory_range guard, std::size_t count) const noexcept;
  std::size_t index_of(const void* cell) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(cell) - reinterpret_cast<const std::byte*>(this)) /
               cell_size -
           head_cells;
  }

  // Constant.
  stack_depot& depot_;
  stack_source* const source_;  // null: the system
  std::byte* const stacks_;
  const stack_geometry geometry_;
  const std::size_t size_;  // of the mapping
  const std::uint32_t count_;
  const std::uint32_t number_;  // of stacks in the depot's older slabs
  const guard protection_;

  atomic<std::uint32_t> guarded_{0};
  atomic<std::uint32_t> initialized_{0};  // lent at least once
  std::uint32_t split_ = 0;               // guards made by mprotect, which splits the mapping
  std::uint32_t free_count_;
  std::uint32_t dirty_count_ = 0;
  alignas(cell_size) word free_[words] = {};
  word dirty_[words] = {};
};
static_assert(sizeof(stack_slab) == stack_slab::head_cells * stack_slab::cell_size,
              "a slab's head takes the place of some cells");
static_assert(stack_slab::words * stack_slab::word_bits >= stack_slab::most, "each stack has a bit");

}}}  // namespace hocket::detail
