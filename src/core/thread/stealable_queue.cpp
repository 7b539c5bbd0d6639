#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/stealable_queue.hpp>

#include <algorithm>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The distance of two positions that move while they are read, so the later one may have been read first.
std::size_t distance(std::size_t from, std::size_t to) noexcept { return from < to ? to - from : 0; }

}  // namespace

stealable_queue::~stealable_queue() {
  debug_expects(in_reach() == 0 && !first_overflow_, "a run queue was destroyed with coroutines in it",
                "run them to their end first");
  delete[] ring_;
}

// --- the owner

bool stealable_queue::push_growing(std::coroutine_handle<> work) noexcept {
  if (first_overflow_ || !grow()) return false;
  put(own(tail_), work);
  return true;
}

std::size_t stealable_queue::reserve(std::size_t count) noexcept {
  if (first_overflow_) return 0;
  while (capacity_ - (own(tail_) - own(head_)) < count && grow()) {
  }
  return std::min(count, capacity_ - (own(tail_) - own(head_)));
}

bool stealable_queue::grow() noexcept {
  const std::size_t capacity = capacity_ ? 2 * capacity_ : initial_capacity_;
  auto* ring = new (std::nothrow) slot[capacity];
  if (!ring) return false;
  locked guard(thieves_);
  for (std::size_t index = own(head_), end = own(tail_); index != end; ++index) {
    // ORDER: relaxed, pairs with the load in load(): the mutex publishes the new array.
    ring[index & (capacity - 1)].store(load(index), std::memory_order_relaxed);
  }
  delete[] ring_;
  ring_ = ring;
  capacity_ = capacity;
  return true;
}

void stealable_queue::push_overflow(runnable& work) noexcept {
  work.next = nullptr;
  (first_overflow_ ? last_overflow_->next : first_overflow_) = &work;
  last_overflow_ = &work;
  ++overflow_count_;
}

// The array is empty.
std::coroutine_handle<> stealable_queue::pop_overflow() noexcept {
  if (!first_overflow_) return nullptr;
  runnable& first = *first_overflow_;
  first_overflow_ = first.next;
  --overflow_count_;
  return first.handle;
}

// The owner has taken `index`, and has found that a hole begins there, or before.
std::coroutine_handle<> stealable_queue::pop_at_hole(std::size_t index) noexcept {
  locked guard(thieves_);
  // A thief that was too late for this entry has moved the hole behind it.
  if (index < own(hole_from_)) return load(index);
  // ORDER: relaxed, pairs with the load in pop(): of the same thread; thieves read it under the mutex.
  hole_from_.store(none, std::memory_order_relaxed);
  const std::size_t next = own(hole_to_);
  const bool more = next != own(tail_);
  // ORDER: relaxed, pairs with the load in dig(), under the mutex.
  head_.store(next + more, std::memory_order_relaxed);
  return more ? load(next) : pop_overflow();
}

// --- thieves

std::size_t stealable_queue::in_reach() const noexcept {
  const std::size_t head = own(head_), tail = own(tail_), from = own(hole_from_);
  if (from == none) return distance(head, tail);
  return distance(head, from) + distance(own(hole_to_), tail);
}

std::size_t stealable_queue::steal(std::span<std::coroutine_handle<>> into, std::size_t least) noexcept {
  if (into.empty() || in_reach() < least || !thieves_.try_lock()) return 0;
  const std::size_t from = own(hole_from_);
  // ORDER: acquire, pairs with the store in put(): the entries before it can be read.
  const std::size_t tail = tail_.load(std::memory_order_acquire);
  const std::size_t end = from == none ? tail : from;
  const std::size_t front = distance(own(head_), end);
  const std::size_t hole_end = own(hole_to_);
  const std::size_t back = from == none ? 0 : tail - hole_end;
  std::size_t count = 0;
  std::size_t first = 0;
  if (front + back >= least) {
    count = std::min((std::max(front, back) + 1) / 2, into.size());
    if (back >= front) {
      first = hole_end;
      // ORDER: relaxed, pairs with the loads under the mutex.
      hole_to_.store(hole_end + count, std::memory_order_relaxed);
    } else {
      count = dig(end, count);
      first = end - count;
    }
  }
  for (std::size_t i = 0; i < count; ++i) into[i] = load(first + i);
  thieves_.unlock();
  return count;
}

// Called under the mutex. Makes the hole begin `count` before `end`, where the hole begins now, or where a new one
// shall end. Returns the number of stolen entries, because the owner may be faster.
std::size_t stealable_queue::dig(std::size_t end, std::size_t count) noexcept {
  const bool is_new = own(hole_from_) == none;
  // ORDER: relaxed, pairs with the load in pop(): the fences of both order it.
  hole_from_.store(end - count, std::memory_order_relaxed);
  heavy_fence();
  // ORDER: relaxed, pairs with the store in pop(): the entries before it are popped, or decided under the mutex.
  const std::size_t begin = std::max(end - count, head_.load(std::memory_order_relaxed));
  const bool has_gained = begin < end;
  // ORDER: relaxed, pairs with the load in pop(): an owner that read the earlier beginning locks the mutex.
  hole_from_.store(has_gained ? begin : is_new ? none : end, std::memory_order_relaxed);
  // ORDER: relaxed, pairs with the loads under the mutex.
  if (is_new) hole_to_.store(end, std::memory_order_relaxed);
  return has_gained ? end - begin : 0;
}

}}}  // namespace hocket::detail
