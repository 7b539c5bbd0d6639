#include <hocket/core/thread/detail/thread_timers.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

time_point thread_timers::now() const noexcept { return steady_clock().now(); }

void thread_timers::attach(timer_node& node) noexcept {
  used_ = true;
  locked guard(mutex_);
  auto place = waiting_.end();
  while (place != waiting_.begin()) {
    auto before = place;
    if ((--before)->when <= node.when) break;
    place = before;
  }
  if (place == waiting_.end()) waiting_.push_back(node);
  else waiting_.insert_before(*place, node);
}

bool thread_timers::detach(timer_node& node) noexcept {
  locked guard(mutex_);
  if (!node.linked()) return false;
  list<timer_node>::erase(node);
  return true;
}

time_point thread_timers::earliest() noexcept {
  if (!used_) return time_point::max();
  locked guard(mutex_);
  used_ = !waiting_.empty();
  return used_ ? waiting_.front().when : time_point::max();
}

void thread_timers::fire_due(time_point present) noexcept {
  collect_due(present);
  while (timer_node* node = pop_due()) node->fire(timer_call::due);
}

void thread_timers::fire_due() noexcept {
  if (used_) fire_due(now());
}

void thread_timers::collect_due(time_point present) noexcept {
  locked guard(mutex_);
  while (!waiting_.empty() && waiting_.front().when <= present) due_.push_back(waiting_.pop_front());
}

timer_node* thread_timers::pop_due() noexcept {
  locked guard(mutex_);
  return due_.empty() ? nullptr : &due_.pop_front();
}

}}}  // namespace hocket::detail
