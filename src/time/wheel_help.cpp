// The help of another thread for a timer wheel whose owner is stuck.
#include "time/timer_wheel.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The timers that a helper takes out of the wheel under the lock, and fires after it.
class timer_wheel::help {
 public:
  explicit help(timer_wheel& wheel) noexcept : wheel_(wheel) {}

  // Returns whether more timers are due.
  bool collect() noexcept {
    collect_returned();
    std::size_t budget = most;
    const bool more = wheel_.catch_up(budget, due_sink{*this});
    skipped_.splice_back(wheel_.due_);
    wheel_.due_.splice_back(skipped_);
    return more;
  }
  // Without the lock. Returns the number of fired timers.
  std::size_t fire() noexcept {
    const std::size_t count = fire_all(returned_, timer_call::given_back);
    return count + fire_all(due_, timer_call::due);
  }

 private:
  static constexpr std::size_t most = 64;

  struct due_sink {
    help& helper;
    bool leaves(timer_node& node) const noexcept {
      if (helper.may_leave(node)) return false;
      helper.skipped_.push_back(node);
      return true;
    }
    void operator()(timer_node& node) const noexcept { helper.take(node, helper.due_); }
  };

  void collect_returned() noexcept {
    // ORDER: relaxed, pairs with nothing: the next call takes a node that this one misses.
    timer_node* const top = wheel_.returned_.load(std::memory_order_relaxed);
    if (top == &wheel_.end_ || top == &wheel_.woken_end_) return;
    for (timer_node* next = wheel_.take_returned(wheel_.woken_end_); next != &wheel_.end_;) {
      timer_node& node = *next;
      // ORDER: relaxed, pairs with the exchange in take_returned(): after it this thread owns the nodes; the lock
      // passes the remaining ones to the owner.
      next = node.link.load(std::memory_order_relaxed);
      if (!may_leave(node)) {
        leave(node);
        continue;
      }
      // ORDER: relaxed, as above.
      node.link.store(nullptr, std::memory_order_relaxed);
      if (node.linked()) list<timer_node>::erase(node);
      take(node, returned_);
    }
  }
  bool may_leave(const timer_node& node) const noexcept {
    return node.kind->may_leave && node.kind->may_leave(node, *wheel_.home_);
  }
  void leave(timer_node& node) noexcept {
    // ORDER: relaxed, pairs with the load in reclaim_chain(): the lock orders it.
    node.link.store(std::exchange(wheel_.for_owner_, &node), std::memory_order_relaxed);
  }
  void take(timer_node& node, list<timer_node>& into) noexcept {
    // ORDER: relaxed, pairs with the load in size(): written by this thread alone, under the lock.
    const std::size_t before = wheel_.popped_elsewhere_.load(std::memory_order_relaxed);
    wheel_.popped_elsewhere_.store(before + 1, std::memory_order_relaxed);
    into.push_back(node);
  }
  static std::size_t fire_all(list<timer_node>& nodes, timer_call why) noexcept {
    std::size_t count = 0;
    for (; !nodes.empty(); ++count) nodes.pop_front().fire(why);
    return count;
  }

  timer_wheel& wheel_;
  list<timer_node> returned_, due_, skipped_;
};

// In rounds, so that the owner can take its lock between them.
std::size_t timer_wheel::assist() noexcept {
  constexpr int most_rounds = 64;
  std::size_t all = 0;
  bool again = true;
  for (int i = 0; i < most_rounds && again && !empty() && lock_.try_borrow(); ++i) {
    help helping(*this);
    const bool more = !turns_ && helping.collect();
    lock_.give_back();
    const std::size_t fired = helping.fire();
    all += fired;
    again = more || fired != 0;  // a fired timer may have returned others
  }
  return all;
}

}}}  // namespace hocket::detail
