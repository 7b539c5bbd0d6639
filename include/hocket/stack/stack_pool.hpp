// A pool: one thread's stock of warm stacks, on a depot of its own or on a shared one (stack_depot.hpp).
//
// Last in, first out, so that the stack handed out next is the one whose pages and cache lines are warm; and acquire()
// prefetches for an acquire() a few later, which hides the misses of a burst.
//
// A pool belongs to one thread and is not synchronised; any number of them may be on one depot. A stack may be released
// on another pool of the same depot than it was acquired on.
#pragma once
#include <hocket/base/detail/platform/poison.hpp>
#include <hocket/base/detail/platform/prefetch.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/stack/stack_depot.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// What stack_pool::statistics() tells. Numbers of stacks, but for bytes.
struct stack_statistics {
  std::ptrdiff_t live;     // acquired here less released here; below 0 if more came from other pools of the depot
  std::ptrdiff_t peak;     // the most of it
  std::size_t pooled;      // free and warm here, and those of a depot of its own
  std::size_t warm;        // acquisitions that found a warm stack
  std::size_t fresh;       // acquisitions of a stack never used before, or without pages again
  std::size_t slabs;       // this and what follows: of the depot
  std::size_t reserved;    // bytes of address space, of which only touched pages are memory
  std::size_t unguarded;   // stacks made with a canary because no guard could be had (guard::preferred)
  std::size_t high_water;  // deepest use of a stack that came back here, in bytes; 0 unless the pool measures
};

// One thread's access to the stacks of a depot, its own or one that is shared. Of that thread alone.
class stack_pool {
 public:
  static constexpr std::size_t minimum_size = stack_depot::minimum_size;
  static constexpr std::size_t maximum_size = stack_depot::maximum_size;

  // On a depot of its own. Throws as stack_depot does. Maps nothing yet.
  explicit stack_pool(const stack_options& options = {});
  // On one that outlives it. Throws bad_alloc.
  explicit stack_pool(stack_depot& depot);
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();  // gives the depot what is free; fatal while stacks of a depot of its own are acquired

  // O(1) when warm, and without a lock but for every so-manieth. Errors as stack_depot::acquire().
  [[nodiscard]] result<stack_ref> acquire() noexcept;

  // Gives a stack of this pool's depot back; its contents are lost. O(1), allocates nothing.
  void release(const stack_ref& stack) noexcept;

  // What is free here goes to the depot.
  void flush() noexcept;

  // The same, and the depot gives back what is free: stack_depot::trim().
  std::size_t trim() noexcept;

  // What decay asks for, here and in the depot; to be called before the thread sleeps. Returns in what time there is
  // more to do; duration::max() if nothing will be.
  duration maintain() noexcept;

  // What is free here goes to the depot if others are short of stacks. To be called before the thread sleeps, where
  // maintain() is not.
  void share() noexcept;

  // Another number if there may be more for these two to do than they have told. A few instructions.
  std::size_t change_count() const noexcept;

  stack_statistics statistics() const noexcept;
  stack_options options() const noexcept { return depot_.options(); }
  stack_depot& depot() const noexcept { return depot_; }

  // A stack of this pool's depot, put together from what its owner keeps of it.
  stack_ref stack_at(void* cell, std::byte* top, bool canary) const noexcept {
    return geometry_.stack({reinterpret_cast<std::uintptr_t>(cell) | static_cast<std::uintptr_t>(canary), top});
  }

  // The stack of a cell that acquire() handed out.
  static stack_ref stack_of(void* cell) noexcept { return stack_depot::stack_of(cell); }
  static std::byte* top_of(void* cell) noexcept { return stack_depot::top_of(cell); }

  // From now on, every stack that comes back is measured (stack/detail/high_water.hpp).
  void measure_use(bool on) noexcept { measures_ = on; }

  // Whether its stacks are copied ones (stack_layout::copied).
  bool shares_stacks() const noexcept { return geometry_.shared; }
  // Whether each has pages of its own (stack_layout::guarded).
  bool is_guarded() const noexcept { return geometry_.guard != 0 && !geometry_.shared; }

 private:
  using free_stack = detail::free_stack;

  stack_pool(stack_depot& depot, stack_depot* own);
  struct owned_depot;
  explicit stack_pool(owned_depot&& own);

  static constexpr std::ptrdiff_t ahead = 16;  // creations; what a miss of cache and TLB takes

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

  free_stack* end_ = nullptr;  // of the loaded magazine
  free_stack* begin_ = nullptr;
  detail::stack_geometry geometry_;
  std::ptrdiff_t live_ = 0;
  std::ptrdiff_t peak_ = 0;
  std::size_t warm_ = 0;
  std::size_t fresh_ = 0;
  detail::pool_stock stock_;
  stack_depot* const own_;
  stack_depot& depot_;
  std::size_t high_water_ = 0;
  bool measures_ = false;
  bool visited_ = false;  // the depot, since the last look
  bool due_reported_ = false;     // maintain() has said when what is free here is due
  std::size_t transfers_ = 0;  // how often stacks were left at the depot, times 4
  time_point period_{};   // when maintain() looked whether it was
};

// Inline, so that a stack_ref stays in registers: copied through memory it costs more than the rest of acquire() (words
// that were just written one by one are read in pairs, which the store buffer cannot forward).
inline result<stack_ref> stack_pool::acquire() noexcept {
  if (end_ == begin_) [[unlikely]]
    return acquire_slowly();
  return pop();
}

inline std::size_t stack_pool::change_count() const noexcept {
  // ORDER: relaxed, pairs with nothing: see release().
  const bool crowded = stock_.full.load(std::memory_order_relaxed) == 0;
  if (due_reported_ && !crowded) return transfers_;  // as it does without stacks
  return holds_any() ? transfers_ + crowded + 2u * !due_reported_ : transfers_;
}

inline bool stack_pool::holds_any() const noexcept {
  return end_ != begin_ || stock_.before->count != 0 || stock_.run.remaining;
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
  detail::debug_expects(&stack_depot::depot_of(stack.cell) == &depot_, "a stack was released to a pool of another depot",
                        "release it to the pool that acquire() was called on, or to another one of the same depot");
  if (measures_) [[unlikely]]
    measure(stack);
  // ORDER: relaxed, pairs with nothing: who does not see yet that the depot is crowded does at the next release, or
  // under the lock in maintain().
  if (reinterpret_cast<std::uintptr_t>(end_) >= stock_.full.load(std::memory_order_relaxed)) [[unlikely]]
    return release_slowly(stack);
  push(stack);
}

inline void stack_pool::push(const stack_ref& stack) noexcept {
  if (stack.canary && !geometry_.shared) detail::write_canary(stack.low);  // the next owner has not ruined it
  if (!geometry_.shared) detail::poison_memory(stack.low, stack.size());   // nobody's: a stray access is found
  *end_++ = {reinterpret_cast<std::uintptr_t>(stack.cell) | static_cast<std::uintptr_t>(stack.canary), stack.top};
  --live_;
}

}}  // namespace hocket
