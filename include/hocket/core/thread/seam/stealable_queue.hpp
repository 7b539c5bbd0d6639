// The run queue of one worker of several: first in, first out. The owner pays no atomic read-modify-write and no fence.
// Other workers may steal from it at any time, even while the owner is stuck in a long computation.
//
// # The array and its hole
//
// It is an array of handles like run_queue.hpp, with a *hole* that thieves dig:
//
//        head             hole_from          hole_to              tail
//     ----|-----------------|==================|-------------------|----
//          entries, next       stolen             entries, later      the owner pushes here
//
// The owner pops at the head and jumps over the hole when it reaches it. Thieves take the newest half: they dig a hole
// that ends at the tail, or widen the existing hole at the end with more entries.
//
// # Protocol
//
// A thief that digs at the front competes with the owner, which may pop there without a lock:
//
//   owner, pop                             thief, under the mutex
//   1. head = index + 1                    1. hole_from = the intended beginning of the hole
//   2. light fence                         2. heavy fence
//   3. hole_from <= index: lock the mutex  3. read head: the entries before it belong to the owner: hole_from = head,
//      and check again                        if that is greater
//
// At least one of the two reads the other's word (base/seam/atomic.hpp). If the owner finds the hole, it decides under
// the mutex, where the hole is final. If it does not, then the thief finds the head behind that entry and leaves the
// entry. To widen the hole at its back needs no fence: the owner cannot pass the hole without the mutex.
//
// # Who may touch what
//
// - head_, tail_: written by the owner; read by all.
// - hole_from_: written under the mutex; others read it without. hole_to_: the same.
// - ring_, capacity_: written under the mutex by the owner; read under it, or by the owner.
// - An entry: written by the owner before tail_ is released; not written again before it is popped or skipped.
//
// Without memory, entries that do not fit form an overflow list through the runnables, behind the array, out of reach
// of thieves.
//
// Sources: the packed heads and stealing by halves of Go and tokio; the asymmetric fence of Dice, Huang, Yang. Unlike a
// Chase-Lev deque, this one is first in, first out for its owner, and a theft takes half of it.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/thread/seam/runnable.hpp>
#include <cstddef>
#include <limits>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class stealable_queue {
 public:
  // `has_searchers`: whether other threads search for work. `capacity`: the first one of the array; a power of two.
  explicit stealable_queue(const atomic<bool>& has_searchers, std::size_t capacity = 256) noexcept
      : has_searchers_(has_searchers), initial_capacity_(capacity) {}
  stealable_queue(const stealable_queue&) = delete;
  stealable_queue& operator=(const stealable_queue&) = delete;
  ~stealable_queue();  // must be empty

  // --- the owner. The number of entries, with those that were stolen and that the owner has not yet skipped.
  std::size_t size() const noexcept { return own(tail_) - own(head_) + overflow_count_; }
  bool empty() const noexcept { return size() == 0; }

  // Allocates only to grow, amortised constant time. Without memory it uses the overflow list. `work` is not touched
  // after it was popped.
  void push(runnable& work) noexcept {
    if (!try_push(work.handle)) [[unlikely]]
      push_overflow(work);
  }
  // For a coroutine without a runnable. False: the array is full, and there is no memory.
  [[nodiscard]] bool try_push(std::coroutine_handle<> work) noexcept {
    return try_push_without_growth(work) || push_growing(work);
  }
  // Like try_push(), but never grows. For leaf functions.
  [[nodiscard]] bool try_push_without_growth(std::coroutine_handle<> work) noexcept {
    const std::size_t index = own(tail_);
    if (index - own(head_) == capacity_ || first_overflow_) [[unlikely]]
      return false;
    put(index, work);
    return true;
  }

  // Grows for `count` more entries, as far as there is memory. Returns the number that fits: at most `count`.
  std::size_t reserve(std::size_t count) noexcept;

  // Pops the oldest entry; null if there is none.
  std::coroutine_handle<> pop() noexcept {
    const std::size_t index = own(head_);
    if (index == own(tail_)) [[unlikely]]
      return pop_overflow();
    // ORDER: relaxed, pairs with the load in dig(): the fences of both order it.
    head_.store(index + 1, std::memory_order_relaxed);
    light_fence();
    // ORDER: relaxed, pairs with the store in dig(): see above.
    if (index >= hole_from_.load(std::memory_order_relaxed)) [[unlikely]]
      return pop_at_hole(index);
    return load(index);
  }

  // After a push: whether another thread looks for work, and there is more than the owner runs next. If this returns
  // false, a thread that announces a search later, and then makes a heavy fence, finds the pushed entry.
  bool should_offer() const noexcept {
    light_fence();
    return has_searcher() && size() > 1;
  }
  // Whether another thread looks for work; a hint.
  // ORDER: relaxed, pairs with the store in idle_workers::changed(): in should_offer(), the fences of both order it.
  bool has_searcher() const noexcept { return has_searchers_.load(std::memory_order_relaxed); }

  // As in run_queue.hpp.
  bool is_large() const noexcept { return capacity_ > 1024; }
  // The result of pop() after `ahead` others, unless thieves take that entry first; null unless it is in the array.
  std::coroutine_handle<> peek(std::size_t ahead) const noexcept {
    const std::size_t index = own(head_) + ahead;
    return index < own(tail_) ? load(index) : std::coroutine_handle<>{};
  }

  // --- any other thread. Takes the newest half, at most into.size(), oldest first. Takes nothing if there are fewer
  // than `least`, or if another thief is at work.
  std::size_t steal(std::span<std::coroutine_handle<>> into, std::size_t least) noexcept;
  // The number of entries that a thief would find; may be outdated at once.
  std::size_t in_reach() const noexcept;

 private:
  using slot = atomic<std::coroutine_handle<>>;
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  // Exact for the word's writer and under the mutex; a guess for other threads.
  // ORDER: relaxed, pairs with nothing: see above.
  static std::size_t own(const atomic<std::size_t>& word) noexcept { return word.load(std::memory_order_relaxed); }
  slot& slot_at(std::size_t index) const noexcept { return ring_[index & (capacity_ - 1)]; }
  void put(std::size_t index, std::coroutine_handle<> work) noexcept {
    // ORDER: relaxed, pairs with the load in load(): the tail publishes it.
    slot_at(index).store(work, std::memory_order_relaxed);
    // ORDER: release, pairs with the loads in steal(): the entry, and the writes before its wake-up, are visible.
    tail_.store(index + 1, std::memory_order_release);
  }
  std::coroutine_handle<> load(std::size_t index) const noexcept {
    // ORDER: relaxed, pairs with the store in put(): see there.
    return slot_at(index).load(std::memory_order_relaxed);
  }
  bool push_growing(std::coroutine_handle<> work) noexcept;
  void push_overflow(runnable& work) noexcept;
  std::coroutine_handle<> pop_overflow() noexcept;
  std::coroutine_handle<> pop_at_hole(std::size_t index) noexcept;
  bool grow() noexcept;
  std::size_t dig(std::size_t end, std::size_t count) noexcept;

  const atomic<bool>& has_searchers_;
  const std::size_t initial_capacity_;
  // Written by the owner.
  atomic<std::size_t> head_{0};  // counts of pops and pushes; the slot is the count modulo the capacity
  atomic<std::size_t> tail_{0};
  slot* ring_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two, or 0
  runnable* first_overflow_ = nullptr;
  runnable* last_overflow_ = nullptr;
  std::size_t overflow_count_ = 0;
  // Written by thieves.
  atomic<std::size_t> hole_from_{none};
  atomic<std::size_t> hole_to_{0};
  thread_mutex thieves_;
};

}}}  // namespace hocket::detail
