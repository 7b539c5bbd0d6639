// Timers that are moved by hand.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/thread/seam/timer.hpp>

namespace hocket_test {

class hand_timers final : public hocket::detail::timer_service {
 public:
  explicit hand_timers(hocket::time_point start = hocket::time_point(std::chrono::hours(1))) noexcept : now_(start) {}
  hocket::time_point now() const noexcept override { return now_; }
  void attach(hocket::detail::timer_node& node) noexcept override {
    hocket::primitive::locked guard(mutex_);
    nodes_.push_back(node);
  }
  bool detach(hocket::detail::timer_node& node) noexcept override {
    hocket::primitive::locked guard(mutex_);
    if (!node.linked()) return false;
    nodes_.erase(node);
    return true;
  }
  bool empty() noexcept {
    hocket::primitive::locked guard(mutex_);
    return nodes_.empty();
  }
  // Lets time pass and fires the due timers.
  void pass(hocket::duration time) noexcept {
    now_ += time;
    fire_due(now_);
  }
  // Fires the timers that are due at `when`, on the caller's thread. Returns their number. The time does not change.
  int fire_due(hocket::time_point when) noexcept {
    int fired = 0;
    for (; hocket::detail::timer_node* due = pop_due(when); ++fired) due->fire(hocket::detail::timer_call::due);
    return fired;
  }

 private:
  hocket::detail::timer_node* pop_due(hocket::time_point when) noexcept {
    hocket::primitive::locked guard(mutex_);
    for (hocket::detail::timer_node& node : nodes_) {
      if (node.when > when) continue;
      nodes_.erase(node);
      return &node;
    }
    return nullptr;
  }

  hocket::primitive::thread_mutex mutex_;
  hocket::detail::list<hocket::detail::timer_node> nodes_;
  hocket::time_point now_;
};

}  // namespace hocket_test
