#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/fork_deque.hpp>

#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

fork_deque::~fork_deque() {
  debug_expects(empty(), "a deque of forks was destroyed with some in it", "run them to their end first");
  delete[] slots_;
}

bool fork_deque::pop_contended() noexcept {
  locked guard(thieves_);
  const std::size_t index = own(bottom_);
  if (own(top_) <= index) return true;
  // ORDER: relaxed, pairs with the load in steal(): under the mutex, and there is nothing below that was not stolen.
  bottom_.store(index + 1, std::memory_order_relaxed);
  return false;
}

bool fork_deque::update_limit(std::size_t index) noexcept {
  const std::size_t capacity = slots_ ? mask_ + 1 : 0;
  // ORDER: acquire, pairs with the store in steal(): the thief has read the slots that are written next.
  limit_ = free_.load(std::memory_order_acquire) + capacity;
  return index < limit_;
}

bool fork_deque::grow() noexcept {
  const std::size_t capacity = slots_ ? 2 * (mask_ + 1) : initial_capacity_;
  auto* slots = new (std::nothrow) slot[capacity];
  if (!slots) return false;
  locked guard(thieves_);
  for (std::size_t index = own(top_), end = own(bottom_); index < end; ++index) {
    // ORDER: relaxed, pairs with the load in steal(): the mutex publishes the new array.
    slots[index & (capacity - 1)].store(last(index + 1), std::memory_order_relaxed);
  }
  delete[] slots_;
  slots_ = slots;
  mask_ = capacity - 1;
  return true;
}

fork_entry* fork_deque::steal() noexcept {
  if (!in_reach() || !thieves_.try_lock()) return nullptr;
  fork_entry* entry = nullptr;
  const std::size_t top = own(top_);
  // ORDER: relaxed, pairs with the load in lower(): the fences of both order it.
  top_.store(top + 1, std::memory_order_relaxed);
  heavy_fence();
  // ORDER: acquire, pairs with the stores of the bottom: the entry, and the fork that it represents, is complete.
  if (top + 1 <= bottom_.load(std::memory_order_acquire)) {
    entry = last(top + 1);
    // ORDER: release, pairs with the load in push(): the slot was read.
    free_.store(top + 1, std::memory_order_release);
  } else {
    // ORDER: relaxed, pairs with the load in lower(): an owner that read the higher value locks the mutex.
    top_.store(top, std::memory_order_relaxed);
  }
  thieves_.unlock();
  return entry;
}

}}}  // namespace hocket::detail
