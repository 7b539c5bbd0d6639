#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>

#include <bit>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

run_queue::~run_queue() {
  debug_expects(empty(), "a run queue was destroyed with coroutines in it", "run them to their end first");
  if (ring_ != &only_) delete[] ring_;
}

// Computes the limit. Whether the array has a free slot.
bool run_queue::update_limit() noexcept {
  limit_ = first_overflow_ ? tail_ : head_ + mask_ + 1;
  return tail_ != limit_;
}

void run_queue::push_overflow(runnable& work) noexcept {
  work.next = nullptr;
  (first_overflow_ ? last_overflow_->next : first_overflow_) = &work;
  last_overflow_ = &work;
  ++overflow_count_;
}

std::coroutine_handle<> run_queue::pop_overflow() noexcept {
  runnable& first = *first_overflow_;
  first_overflow_ = first.next;
  --overflow_count_;
  return first.handle;
}

// Moves entries of the overflow list into the array, as far as it has space. Whether the array has an entry then.
bool run_queue::refill() noexcept {
  while (first_overflow_ && tail_ - head_ <= mask_) at(tail_++) = pop_overflow();
  return head_ != tail_;
}

void run_queue::grow(std::size_t count) noexcept {
  const std::size_t capacity = std::bit_ceil(count < 64 ? 64 : count);
  auto* ring = new (std::nothrow) std::coroutine_handle<>[capacity];
  if (!ring) return;
  const auto size = static_cast<std::size_t>(tail_ - head_);
  for (std::size_t i = 0; i < size; ++i) ring[i] = at(head_ + i);
  if (ring_ != &only_) delete[] ring_;
  ring_ = ring;
  mask_ = capacity - 1;
  head_ = 0;
  tail_ = size;
  limit_ = 0;
  refill();
}

}}}  // namespace hocket::detail
