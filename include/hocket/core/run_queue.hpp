// The run queue of one thread: first in, first out, without atomics.
//
// An array of handles, because a list is a chain of dependent loads through the memory of the coroutines (measured: 3.4
// against 6.8 ns per entry at 1,000 coroutines, 50 against 73 at 1,000,000). Pushing must not allocate. So the array is
// made large enough beforehand (reserve(), by the loop, for as many as live), and what exceeds it stands in a list
// through the runnables, behind the array, until there is room.
#pragma once
#include <hocket/core/runnable.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI {

class run_queue {
 public:
  run_queue() noexcept = default;
  run_queue(const run_queue&) = delete;
  run_queue& operator=(const run_queue&) = delete;
  ~run_queue();  // must be empty

  bool empty() const noexcept { return head_ == tail_ && !first_over_; }
  std::size_t size() const noexcept { return tail_ - head_ + over_; }

  // Constant time, allocates nothing. `work` is not touched after it was popped.
  void push(runnable& work) noexcept {
    if (tail_ - head_ == room_ || first_over_) [[unlikely]]
      return push_over(work);
    ring_[tail_++ & (room_ - 1)] = work.handle;
  }

  // For a coroutine that has no runnable. False: it would not stand in the array, and was not pushed.
  [[nodiscard]] bool try_push(std::coroutine_handle<> work) noexcept {
    if (tail_ - head_ == room_ || first_over_) [[unlikely]]
      return false;
    ring_[tail_++ & (room_ - 1)] = work;
    return true;
  }

  // Not of an empty queue.
  std::coroutine_handle<> pop() noexcept {
    if (head_ == tail_) [[unlikely]]
      return pop_refilled();
    return ring_[head_++ & (room_ - 1)];
  }

  // What pop() will give, if it stands in the array; null otherwise.
  std::coroutine_handle<> front() const noexcept {
    return head_ == tail_ ? std::coroutine_handle<>{} : ring_[head_ & (room_ - 1)];
  }

  // try_push(work) and pop() in one; front() is not null.
  [[nodiscard]] bool try_exchange(std::coroutine_handle<> work) noexcept {
    if (first_over_) [[unlikely]]
      return false;
    ring_[tail_++ & (room_ - 1)] = work;  // in a full array that is the place of the first one, which leaves
    ++head_;
    return true;
  }

  // There are or were so many coroutines that they are not all in the nearer caches: whoever pops does well to look
  // ahead.
  bool is_large() const noexcept { return room_ > 1024; }
  // What pop() will give after `ahead` others: null unless it stands in the array.
  std::coroutine_handle<> peek(std::size_t ahead) const noexcept {
    return ahead < tail_ - head_ ? ring_[(head_ + ahead) & (room_ - 1)] : std::coroutine_handle<>{};
  }

  // Makes room for `count` entries in the array; where memory is short it stays as it is, which is slower only.
  void reserve(std::size_t count) noexcept {
    if (count > room_) [[unlikely]]
      grow(count);
  }

 private:
  void grow(std::size_t count) noexcept;
  void push_over(runnable& work) noexcept;
  std::coroutine_handle<> pop_refilled() noexcept;
  std::coroutine_handle<> pop_over() noexcept;
  void refill() noexcept;

  std::coroutine_handle<>* ring_ = nullptr;
  std::size_t room_ = 0;  // a power of two, or nothing
  std::size_t head_ = 0;  // counts of pops and pushes; the place is the count modulo the room
  std::size_t tail_ = 0;
  runnable* first_over_ = nullptr;
  runnable* last_over_ = nullptr;
  std::size_t over_ = 0;
};

}  // namespace hocket::inline HOCKET_ABI
