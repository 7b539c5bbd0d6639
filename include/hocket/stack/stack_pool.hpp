// A pool: one thread's cache of warm stacks, on a depot of its own or on a shared depot (stack_depot.hpp).
//
// Guarantees. Last in, first out: acquire() returns the stack with the warmest pages and cache lines. It prefetches for
// an acquire() a few calls later, which hides the misses of a burst.
// Thread safety. A pool belongs to one thread and is not synchronised. Any number of pools may share one depot. A stack
// may be released to another pool of the depot that it was acquired from.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/stack/stack_depot.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// The statistics of a stack_pool. Counts of stacks, unless the comment says bytes.
struct stack_statistics {
  std::ptrdiff_t live;     // acquired here minus released here; below 0 if other pools of the depot acquired more
  std::ptrdiff_t peak;     // the highest live
  std::size_t pooled;      // free and warm here, and in the pool's own depot
  std::size_t warm;        // acquisitions that found a warm stack
  std::size_t fresh;       // acquisitions of a stack never used before, or with its pages released
  std::size_t slabs;       // of the depot
  std::size_t reserved;    // of the depot: bytes of address space; only touched pages take memory
  std::size_t unguarded;   // of the depot: stacks with a canary because no guard page was available (guard::preferred)
  std::size_t high_water;  // the deepest use of a stack that was released here, in bytes; 0 unless the pool measures
};

// One thread's cache of stacks of a depot, its own or a shared depot. Only that thread uses the pool.
class stack_pool {
 public:
  static constexpr std::size_t minimum_size = stack_depot::minimum_size;
  static constexpr std::size_t maximum_size = stack_depot::maximum_size;

  // Creates the pool with its own depot. Throws as stack_depot does. Maps no memory yet.
  explicit stack_pool(const stack_options& options = {});
  // Creates the pool on a depot that outlives it. Throws std::bad_alloc.
  explicit stack_pool(stack_depot& depot);
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();  // returns its free stacks to the depot; fatal while stacks of its own depot are acquired

  // Acquires a stack. O(1) if warm; most calls take no lock. Errors as stack_depot::acquire().
  [[nodiscard]] result<stack_ref> acquire() noexcept;

  // Releases a stack of this pool's depot; its contents are lost. O(1), allocates nothing.
  void release(const stack_ref& stack) noexcept;

  // Returns the pool's free stacks to the depot.
  void flush() noexcept;

  // Calls flush() and stack_depot::trim(), which releases the depot's free stacks to the system.
  std::size_t trim() noexcept;

  // Does the due work of decay, here and in the depot. Call it before the thread sleeps. Returns the time until more
  // work is due; duration::max() if no work will be due.
  duration maintain() noexcept;

  // Returns the pool's free stacks to the depot if other threads are short of stacks. Call it before the thread sleeps,
  // unless you call maintain().
  void share() noexcept;

  // Returns another number if maintain() or share() may have more work than they have reported. A few instructions.
  std::size_t change_count() const noexcept;

  stack_statistics statistics() const noexcept;
  stack_options options() const noexcept { return depot_.options(); }
  stack_depot& depot() const noexcept { return depot_; }

  // Returns a stack of this pool's depot, made from the parts that its owner keeps.
  stack_ref stack_at(void* cell, std::byte* top, bool canary) const noexcept {
    return geometry_.stack({reinterpret_cast<std::uintptr_t>(cell) | static_cast<std::uintptr_t>(canary), top});
  }

  // These return the stack, and its top, of a cell that acquire() handed out.
  static stack_ref stack_of(void* cell) noexcept { return stack_depot::stack_of(cell); }
  static std::byte* top_of(void* cell) noexcept { return stack_depot::top_of(cell); }

  // Sets whether every released stack is measured from now on (stack/seam/inspection.hpp).
  void measure_use(bool on) noexcept { measures_ = on; }

  // Returns whether its stacks are of stack_layout::copied.
  bool shares_stacks() const noexcept { return geometry_.shared; }
  // Returns whether its stacks are of stack_layout::guarded: each has pages of its own.
  bool is_guarded() const noexcept { return geometry_.guard != 0 && !geometry_.shared; }

 private:
  using free_stack = detail::free_stack;

  stack_pool(stack_depot& depot, stack_depot* own);
  struct owned_depot;
  explicit stack_pool(owned_depot&& own);

  static constexpr std::ptrdiff_t ahead = 16;  // creations: the time of a miss of cache and TLB

  stack_ref pop() noexcept;
  static void prefetch(const free_stack& later) noexcept;
  void prefetch_last() const noexcept;
  void count_acquired() noexcept;
  void load() noexcept;
  void unload() noexcept;
  void swap() noexcept;
  bool holds_any() const noexcept;
  [[nodiscard]] result<stack_ref> acquire_slowly() noexcept;
  result<stack_ref> take_from_run() noexcept;
  void release_slowly(const stack_ref& stack) noexcept;
  void push(const stack_ref& stack) noexcept;
  void measure(const stack_ref& stack) noexcept;

  free_stack* end_ = nullptr;  // the end of the loaded magazine
  free_stack* begin_ = nullptr;
  detail::stack_geometry geometry_;
  std::ptrdiff_t live_ = 0;
  std::ptrdiff_t peak_ = 0;
  std::size_t warm_ = 0;
  std::size_t fresh_ = 0;
  detail::magazine_cache cache_;
  stack_depot* const own_;
  stack_depot& depot_;
  std::size_t high_water_ = 0;
  bool measures_ = false;
  bool visited_ = false;       // whether the pool has called the depot in this period
  bool due_reported_ = false;  // whether maintain() has returned when the free stacks here are due
  std::size_t transfers_ = 0;  // returns of stacks to the depot, times 4
  time_point period_{};        // the beginning of the period of decay
};

// Inline, so that a stack_ref stays in registers. A copy through memory costs more than the rest of acquire(): reading
// two just-written words as a pair defeats store forwarding.
inline result<stack_ref> stack_pool::acquire() noexcept {
  if (end_ == begin_) [[unlikely]]
    return acquire_slowly();
  return pop();
}

inline std::size_t stack_pool::change_count() const noexcept {
  // ORDER: relaxed, pairs with nothing: see release().
  const bool crowded = cache_.full.load(std::memory_order_relaxed) == 0;
  if (due_reported_ && !crowded) return transfers_;  // as for a pool without free stacks
  return holds_any() ? transfers_ + crowded + 2u * !due_reported_ : transfers_;
}

inline bool stack_pool::holds_any() const noexcept {
  return end_ != begin_ || cache_.before->count != 0 || cache_.run.remaining;
}

inline stack_ref stack_pool::pop() noexcept {
  stack_ref stack = geometry_.stack(*--end_);
  if (!geometry_.shared) detail::unpoison_memory(stack.low, stack.size());
  if (end_ - begin_ >= ahead) prefetch(end_[-ahead]);
  ++warm_;
  count_acquired();
  return stack;
}

inline void stack_pool::prefetch(const free_stack& later) noexcept {
  hocket::detail::prefetch(reinterpret_cast<void*>(later.cell));
  hocket::detail::prefetch(later.top - 64);
  hocket::detail::prefetch(later.top - 128);
  hocket::detail::prefetch(later.top - 192);
}

inline void stack_pool::count_acquired() noexcept {
  if (++live_ > peak_) peak_ = live_;
}

inline void stack_pool::release(const stack_ref& stack) noexcept {
  detail::debug_expects(&stack_depot::depot_of(stack.cell) == &depot_,
                        "a stack was released to a pool of another depot",
                        "release it to the pool that acquire() was called on, or to another one of the same depot");
  if (measures_) [[unlikely]]
    measure(stack);
  // ORDER: relaxed, pairs with nothing: a thread that does not see yet that the depot is crowded sees it at the next
  // release, or under the lock in maintain().
  if (reinterpret_cast<std::uintptr_t>(end_) >= cache_.full.load(std::memory_order_relaxed)) [[unlikely]]
    return release_slowly(stack);
  push(stack);
}

inline void stack_pool::push(const stack_ref& stack) noexcept {
  if (stack.canary && !geometry_.shared) detail::write_canary(stack.low);  // the next owner needs it intact
  if (!geometry_.shared) detail::poison_memory(stack.low, stack.size());   // so that a stray access is found
  *end_++ = {reinterpret_cast<std::uintptr_t>(stack.cell) | static_cast<std::uintptr_t>(stack.canary), stack.top};
  --live_;
}

}}  // namespace hocket
