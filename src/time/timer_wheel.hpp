// The turn of a timer wheel, under its lock, for the owner and for a helper (wheel_help.cpp). A sink gets the due
// timers:
//
//   bool leaves(timer_node&)       true: the sink has linked the timer elsewhere; it remains attached
//   void operator()(timer_node&)   the timer is popped, and the sink must fire it
#pragma once
#include <hocket/time/seam/timer_wheel.hpp>

#include "time/time_key.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Completes the previous turn, if that ended at its bound. Then collects the late and the due timers up to a new
// horizon. `sink` gets the popped timers. True: a timer is due already.
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

// Turns up to the horizon. False: the budget ended before. Opens several slots with few timers before one of their
// timers fires, so that the prefetches of their memory overlap.
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
    // ORDER: relaxed, pairs with the compare-exchange in give_back(): the two only decide which thread owns the node.
    // The loser does not access it again; its own hold on the wait orders it before the end of the node.
    if (!node.link.compare_exchange_strong(attached, nullptr, std::memory_order_relaxed, std::memory_order_relaxed))
      continue;
    // ORDER: relaxed, pairs with the load in fired(): written under the lock.
    fired_.store(fired() + 1, std::memory_order_relaxed);
    sink(node);
  }
  return true;
}

}}}  // namespace hocket::detail
