#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>

#include <bit>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

run_queue::~run_queue() {
  debug_expects(empty(), "a run queue was destroyed with coroutines in it", "run them to their end first");
  if (ring_ != &only_) delete[] ring_;
}

// Looks how far the array goes by now.
bool run_queue::find_room() noexcept {
  limit_ = first_over_ ? tail_ : head_ + last_place_ + 1;
  return tail_ != limit_;
}

void run_queue::push_over(runnable& work) noexcept {
  work.next = nullptr;
  (first_over_ ? last_over_->next : first_over_) = &work;
  last_over_ = &work;
  ++over_;
}

std::coroutine_handle<> run_queue::pop_over() noexcept {
  runnable& first = *first_over_;
  first_over_ = first.next;
  --over_;
  return first.handle;
}

// What stands behind the array moves up, as far as there is room. Whether anything stands in the array then.
bool run_queue::refill() noexcept {
  while (first_over_ && tail_ - head_ <= last_place_) at(tail_++) = pop_over();
  return head_ != tail_;
}

void run_queue::grow(std::size_t count) noexcept {
  const std::size_t room = std::bit_ceil(count < 64 ? 64 : count);
  auto* ring = new (std::nothrow) std::coroutine_handle<>[room];
  if (!ring) return;
  const auto present = static_cast<std::size_t>(tail_ - head_);
  for (std::size_t i = 0; i < present; ++i) ring[i] = at(head_ + i);
  if (ring_ != &only_) delete[] ring_;
  ring_ = ring;
  last_place_ = room - 1;
  head_ = 0;
  tail_ = present;
  limit_ = 0;
  refill();
}

}}}  // namespace hocket::detail
