// Stacks: slabs of equal stacks, guarded, with coloured tops, and a warm pool of them.
//
// A slab is two mappings. The *stacks* mapping holds `count` strides of equal size:
//
//     low address                                                                                high address
//     | guard page | canary | usable ...................................... top | colour offset |   one stride
//
// The *cells* mapping holds one 64-byte cell per stack, dense, aligned so that masking a cell's address gives the slab:
// a control block lives there, apart from the stack, so that a scan over many coroutines touches little memory.
//
// Colour. Stacks whose size is a power of two would put every top into the same few cache sets; so the tops are
// staggered by multiples of 320 bytes within 3 KB (48 sets of 64; the rest of the page keeps small stacks on one page).
//
// Guards. MADV_GUARD_INSTALL (Linux 6.13) marks pages without splitting the mapping; before that mprotect, which costs
// one mapping per stack and ends at vm.max_map_count. `guard::required` is an error there; `guard::preferred` goes on
// with a canary instead, and counts. A canary is sixteen bytes at the low end, compared at each switch to the coroutine
// and at its end: it tells of an overflow after the fact, and only of one that wrote there.
//
// The pool is last-in-first-out, so that the stack handed out next is the one whose pages and cache lines are warm; and
// acquire() prefetches for an acquire() a few later, which hides the misses of a burst.
// A pool belongs to one thread and is not synchronised. Memory is given back when the pool is destroyed.
//
// A guard page stops what touches it. A single frame larger than a page can jump over it: compile what runs on
// coroutines with -fstack-clash-protection.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/platform/poison.hpp>
#include <hocket/base/result.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket::inline HOCKET_ABI {

enum class guard : std::uint8_t {
  required,   // a guard page or an error
  preferred,  // a guard page, else a canary (counted in the statistics)
  canary      // no guard page: a canary
};

struct stack_options {
  std::size_t stack_size = 64 * 1024;  // usable bytes, rounded up to whole pages; virtual: a page is paid when touched
  std::size_t limit = 0;               // most stacks alive at once; 0: as many as memory allows
  guard protection = guard::required;
  bool measure = false;  // stack_statistics::high_water (stack/high_water.hpp)
};

// One acquired stack. [low, top) is usable; top is 64-byte aligned. `cell` is 64 bytes of the owner's own.
struct stack_ref {
  std::byte* low;
  std::byte* top;
  void* cell;
  bool canary;

  std::size_t size() const noexcept { return static_cast<std::size_t>(top - low); }
};

struct stack_statistics {
  std::size_t live;    // acquired now
  std::size_t pooled;  // free and warm: used before
  std::size_t peak;    // most ever acquired at once
  std::size_t warm;    // acquisitions that the pool served
  std::size_t fresh;   // acquisitions of a stack never used before
  std::size_t slabs;
  std::size_t reserved;    // bytes of address space, of which only touched pages are memory
  std::size_t unguarded;   // stacks made with a canary because no guard could be had (guard::preferred)
  std::size_t high_water;  // deepest use of a stack that came back, in bytes; 0 unless the pool measures
};

class stack_slab;

class stack_pool {
 public:
  static constexpr std::size_t minimum_size = 4 * 1024;
  static constexpr std::size_t maximum_size = std::size_t{1} << 30;

  // Throws std::system_error (invalid_argument) for a stack_size of 0 or above maximum_size; smaller ones than
  // minimum_size are raised to it. Maps nothing yet.
  explicit stack_pool(stack_options options = {});
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();  // fatal while stacks are acquired

  // O(1) when warm. Errors: not_enough_memory (address space, memory, or mappings for guards), resource_unavailable_
  // try_again (the limit of the options).
  [[nodiscard]] result<stack_ref> acquire() noexcept;

  // Gives a stack of this pool back; its contents are lost. O(1).
  void release(const stack_ref& stack) noexcept;

  stack_statistics statistics() const noexcept;
  const stack_options& options() const noexcept { return options_; }

  // The pool and the stack of a cell that acquire() handed out.
  static stack_pool& pool_of(void* cell) noexcept;
  static stack_ref stack_of(void* cell) noexcept;

 private:
  friend class stack_slab;
  stack_ref pop() noexcept;
  void count_acquired() noexcept;
  [[nodiscard]] result<stack_ref> carve() noexcept;
  [[nodiscard]] std::error_code grow() noexcept;
  [[nodiscard]] bool make_room(std::size_t stacks) noexcept;
  void measure(const stack_ref& stack) noexcept;

  stack_options options_;
  std::size_t stride_;
  stack_ref* free_ = nullptr;  // an array with room for every stack of every slab; the last is the next to go
  std::size_t free_room_ = 0;
  stack_slab* slabs_ = nullptr;  // the newest first: only it may have stacks that were never used
  stack_statistics counts_{};
};

// The sixteen bytes at the low end of a stack without a guard page.
void write_canary(std::byte* low) noexcept;
bool canary_intact(const std::byte* low) noexcept;

// Inline, so that a stack_ref stays in registers: copied through memory it costs more than the rest of acquire() (words
// that were just written one by one are read in pairs, which the store buffer cannot forward).
inline result<stack_ref> stack_pool::acquire() noexcept {
  if (options_.limit != 0 && counts_.live == options_.limit) [[unlikely]]
    return failure(std::errc::resource_unavailable_try_again);
  if (counts_.pooled == 0) [[unlikely]]
    return carve();
  ++counts_.warm;
  count_acquired();
  return pop();
}

inline stack_ref stack_pool::pop() noexcept {
  constexpr std::size_t ahead = 16;  // creations; what a miss of cache and TLB takes
  stack_ref stack = free_[--counts_.pooled];
  unpoison_memory(stack.low, stack.size());
  if (counts_.pooled >= ahead) {
    const stack_ref& later = free_[counts_.pooled - ahead];
    __builtin_prefetch(later.cell, 1);
    __builtin_prefetch(later.top - 64, 1);
    __builtin_prefetch(later.top - 128, 1);
    __builtin_prefetch(later.top - 192, 1);
  }
  return stack;
}

inline void stack_pool::count_acquired() noexcept {
  if (++counts_.live > counts_.peak) counts_.peak = counts_.live;
}

inline void stack_pool::release(const stack_ref& stack) noexcept {
  debug_expects(&pool_of(stack.cell) == this, "a stack was released to another pool",
                "release it to the pool that acquire() was called on");
  if (options_.measure) [[unlikely]]
    measure(stack);
  if (stack.canary) write_canary(stack.low);  // whoever ruined it is not the next owner
  poison_memory(stack.low, stack.size());     // nobody's: a stray access is found
  free_[counts_.pooled++] = stack;
  --counts_.live;
}

}  // namespace hocket::inline HOCKET_ABI
