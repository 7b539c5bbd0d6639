// The run queue of one thread: first in, first out, without atomics.
//
// An array of handles, because a list is a chain of dependent loads through the memory of the coroutines (measured: 3.4
// against 6.8 ns per entry at 1,000 coroutines, 50 against 73 at 1,000,000). Pushing must not allocate. So the array is
// made large enough beforehand (reserve(), by the loop, for as many as live), and what exceeds it stands in a list
// through the runnables, behind the array, until there is room.
//
// A push compares with a limit that was true at some time: pops only make more room. Where it is reached it is looked
// up anew, so that a push is half as long as with the room left computed each time.
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

  // For a coroutine that has no runnable. False: it would not stand in the array, and was not pushed.
  [[nodiscard]] bool try_push(std::coroutine_handle<> work) noexcept {
    return try_push_below_limit(work) || (update_limit() && try_push_below_limit(work));
  }
  // The same, and false where it would have to look for room.
  [[nodiscard]] bool try_push_below_limit(std::coroutine_handle<> work) noexcept {
    if (tail_ >= limit_) [[unlikely]]
      return false;
    at(tail_++) = work;
    return true;
  }

  // Whether there may be a pop. What stands behind the array moves up if that is empty.
  bool has_next() noexcept { return head_ != tail_ || refill(); }

  // After has_next() only.
  std::coroutine_handle<> pop() noexcept { return at(head_++); }

  // What pop() will give, if it stands in the array; null otherwise.
  std::coroutine_handle<> front() const noexcept { return head_ == tail_ ? std::coroutine_handle<>{} : at(head_); }

  // try_push(work) and pop() in one; front() is not null.
  [[nodiscard]] bool try_exchange(std::coroutine_handle<> work) noexcept {
    if (first_overflow_) [[unlikely]]
      return false;
    at(tail_++) = work;  // in a full array that is the place of the first one, which leaves
    ++head_;
    return true;
  }

  // There are or were so many coroutines that they are not all in the nearer caches: whoever pops does well to look
  // ahead.
  bool is_large() const noexcept { return mask_ >= 1024; }
  // What pop() will give after `ahead` others: null unless it stands in the array.
  std::coroutine_handle<> peek(std::size_t ahead) const noexcept {
    return ahead < tail_ - head_ ? at(head_ + ahead) : std::coroutine_handle<>{};
  }

  // With so many places left, a push seldom looks for the limit.
  static constexpr std::size_t slack = 16;

  // Makes room for `count` entries in the array; where memory is short it stays as it is, which is slower only.
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
  std::size_t mask_ = 0;    // the places are a power of two, less one
  std::uint64_t head_ = 0;  // counts of pops and pushes; the place is the count modulo the places
  std::uint64_t tail_ = 0;
  std::uint64_t limit_ = 0;  // up to which tail_ may count; at most what it is while something stands behind the array
  runnable* first_overflow_ = nullptr;
  runnable* last_overflow_ = nullptr;
  std::size_t overflow_count_ = 0;
  std::coroutine_handle<> only_;  // the array before there is one
};

}}}  // namespace hocket::detail
