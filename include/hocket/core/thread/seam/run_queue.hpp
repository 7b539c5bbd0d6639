// The run queue of one thread: first in, first out, without atomics.
//
// It is an array of handles, because a list is a chain of dependent loads through the memory of the coroutines
// (measured: 3.4 against 6.8 ns per entry at 1,000 coroutines, 50 against 73 at 1,000,000). A push must not allocate.
// So the loop makes the array large enough beforehand (reserve(), for the number of live coroutines). Entries that
// exceed it form an *overflow list* through the runnables, behind the array, until the array has space.
//
// A push compares with a limit that was true at some time, because pops only make space. If the limit is reached, it is
// computed again. So a push takes half as long as with an exact limit.
#pragma once
#include <hocket/core/thread/seam/runnable.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class run_queue {
 public:
  run_queue() noexcept = default;
  run_queue(const run_queue&) = delete;
  run_queue& operator=(const run_queue&) = delete;
  ~run_queue();  // must be empty

  bool empty() const noexcept { return head_ == tail_ && !first_overflow_; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(tail_ - head_) + overflow_count_; }

  // Constant time, allocates nothing. `work` is not touched after it was popped.
  void push(runnable& work) noexcept {
    if (!try_push(work.handle)) [[unlikely]]
      push_overflow(work);
  }

  // For a coroutine without a runnable. False: the array is full, and the coroutine was not pushed.
  [[nodiscard]] bool try_push(std::coroutine_handle<> work) noexcept {
    return try_push_below_limit(work) || (update_limit() && try_push_below_limit(work));
  }
  // Like try_push(), but also false if the limit must be computed again.
  [[nodiscard]] bool try_push_below_limit(std::coroutine_handle<> work) noexcept {
    if (tail_ >= limit_) [[unlikely]]
      return false;
    at(tail_++) = work;
    return true;
  }

  // Whether pop() is possible. If the array is empty, entries of the overflow list move up.
  bool has_next() noexcept { return head_ != tail_ || refill(); }

  // After has_next() only.
  std::coroutine_handle<> pop() noexcept { return at(head_++); }

  // The result of the next pop(), if that entry is in the array; null otherwise.
  std::coroutine_handle<> front() const noexcept { return head_ == tail_ ? std::coroutine_handle<>{} : at(head_); }

  // try_push(work) and pop() in one; front() is not null.
  [[nodiscard]] bool try_exchange(std::coroutine_handle<> work) noexcept {
    if (first_overflow_) [[unlikely]]
      return false;
    at(tail_++) = work;  // in a full array this is the slot of the first entry, which leaves
    ++head_;
    return true;
  }

  // Whether there are or were so many coroutines that the nearer caches do not hold them all. Then the caller of pop()
  // should prefetch later entries.
  bool is_large() const noexcept { return mask_ >= 1024; }
  // The result of pop() after `ahead` others; null unless that entry is in the array.
  std::coroutine_handle<> peek(std::size_t ahead) const noexcept {
    return ahead < tail_ - head_ ? at(head_ + ahead) : std::coroutine_handle<>{};
  }

  // With this many free slots, a push seldom computes the limit.
  static constexpr std::size_t slack = 16;

  // Makes the array large enough for `count` entries. Without memory it stays as it is: the overflow list is slower.
  void reserve(std::size_t count) noexcept {
    if (count > mask_ + 1) [[unlikely]]
      grow(count);
  }

 private:
  std::coroutine_handle<>& at(std::uint64_t count) noexcept { return ring_[count & mask_]; }
  std::coroutine_handle<> at(std::uint64_t count) const noexcept { return ring_[count & mask_]; }
  bool update_limit() noexcept;
  void grow(std::size_t count) noexcept;
  void push_overflow(runnable& work) noexcept;
  std::coroutine_handle<> pop_overflow() noexcept;
  bool refill() noexcept;

  std::coroutine_handle<>* ring_ = &only_;
  std::size_t mask_ = 0;    // the capacity, a power of two, less one
  std::uint64_t head_ = 0;  // counts of pops and pushes; the slot is the count modulo the capacity
  std::uint64_t tail_ = 0;
  std::uint64_t limit_ = 0;  // tail_ may count up to it; at most tail_ while the overflow list has entries
  runnable* first_overflow_ = nullptr;
  runnable* last_overflow_ = nullptr;
  std::size_t overflow_count_ = 0;
  std::coroutine_handle<> only_;  // the array before the first allocation
};

}}}  // namespace hocket::detail
