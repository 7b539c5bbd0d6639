// The turn of a timer wheel, under its lock, for the owner and for a helper (wheel_help.cpp). A sink gets the due
// timers:
//
//   bool leaves(timer_node&)       whether it has put the timer elsewhere, still attached
//   void operator()(timer_node&)   the timer is popped, and to be fired
#pragma once
#include <hocket/time/seam/timer_wheel.hpp>

#include "time/time_key.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The rest of the turn before, if a bound cut it. Then, from a new horizon, the late and the due timers. `sink` gets
// the popped timers. True: a timer is due already.
template <class Sink>
bool timer_wheel::catch_up(std::size_t& budget, Sink sink) noexcept {
  const bool still_cut = cut_ && !turn(budget, sink);
  if (still_cut && fresh_.empty()) return true;
  const time_point present = clock_.now();
  if (!still_cut) horizon_ = std::max(horizon_, key_of(present));
  time_fresh(present);
  if (still_cut) return true;
  due_.splice_back(late_);
  cut_ = !turn(budget, sink);
  return cut_ || !late_.empty();
}

// A horizon before `end`; late timers before it are due.
inline void timer_wheel::set_horizon_before(std::uint64_t end) noexcept {
  list<timer_node> later;
  while (!late_.empty()) {
    timer_node& node = late_.pop_front();
    (key_of(node.when) < end ? due_ : later).push_back(node);
  }
  late_.splice_back(later);
  if (end != 0) horizon_ = std::max(horizon_, end - 1);
}

// Up to the horizon. False: the budget ended before. Several slots with few timers each are opened before one of
// their timers fires, so that their memory is on its way meanwhile.
template <class Sink>
bool timer_wheel::turn(std::size_t& budget, Sink sink) noexcept {
  bool more = true;
  while (more) {
    if (!spread(budget)) return false;
    std::size_t opened = 0;
    do more = open_next(budget);
    while (more && opened_.empty() && ++opened < batch);
    if (!due_.empty() && !empty_due(budget, sink)) return false;
  }
  return true;
}

template <class Sink>
bool timer_wheel::empty_due(std::size_t& budget, Sink sink) noexcept {
  while (!due_.empty()) {
    if (budget == 0) return false;
    timer_node& node = due_.pop_front();
    if (sink.leaves(node)) continue;
    --budget;
    timer_node* attached = &node;
    // ORDER: relaxed, pairs with the compare-exchange in give_back(): the two only decide who has the node. A thread
    // that loses reads nothing more of it, and is ordered before its end by its own hold on the wait.
    if (!node.link.compare_exchange_strong(attached, nullptr, std::memory_order_relaxed, std::memory_order_relaxed))
      continue;
    // ORDER: relaxed, pairs with the load in fired(): written under the lock.
    fired_.store(fired() + 1, std::memory_order_relaxed);
    sink(node);
  }
  return true;
}

}}}  // namespace hocket::detail
