#include <hocket/base/fatal.hpp>
#include <hocket/core/run_queue.hpp>

#include <bit>
#include <new>

namespace hocket::inline HOCKET_ABI {

run_queue::~run_queue() {
  debug_expects(empty(), "a run queue was destroyed with coroutines in it", "run them to their end first");
  delete[] ring_;
}

void run_queue::push_over(runnable& work) noexcept {
  work.next = nullptr;
  (first_over_ ? last_over_->next : first_over_) = &work;
  last_over_ = &work;
  ++over_;
}

// The array is empty, or there is none.
std::coroutine_handle<> run_queue::pop_refilled() noexcept {
  refill();
  return ring_ ? ring_[head_++ & (room_ - 1)] : pop_over();
}

std::coroutine_handle<> run_queue::pop_over() noexcept {
  runnable& first = *first_over_;
  first_over_ = first.next;
  --over_;
  return first.handle;
}

// The array is empty: what stands behind it moves up, as far as there is room.
void run_queue::refill() noexcept {
  while (first_over_ && tail_ - head_ < room_) ring_[tail_++ & (room_ - 1)] = pop_over();
}

void run_queue::grow(std::size_t count) noexcept {
  const std::size_t room = std::bit_ceil(count < 64 ? 64 : count);
  auto* ring = new (std::nothrow) std::coroutine_handle<>[room];
  if (!ring) return;
  const std::size_t present = tail_ - head_;
  for (std::size_t i = 0; i < present; ++i) ring[i] = ring_[(head_ + i) & (room_ - 1)];
  delete[] ring_;
  ring_ = ring;
  room_ = room;
  head_ = 0;
  tail_ = present;
  refill();
}

}  // namespace hocket::inline HOCKET_ABI
