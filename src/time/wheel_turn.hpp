// A turn of a timer wheel, under its lock: what the owner and a thread that helps it do alike. A sink gets what is due:
//
//   bool leaves(timer_node&)       whether it has put the timer elsewhere, still attached
//   void operator()(timer_node&)   the timer is popped, and to be fired
#pragma once
#include <hocket/time/seam/timer_wheel.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Time points as unsigned numbers, in the order of time.
inline constexpr std::uint64_t origin_of_keys = std::uint64_t{1} << 63;

constexpr std::uint64_t key_of(time_point at) noexcept {
  return static_cast<std::uint64_t>(at.time_since_epoch().count()) ^ origin_of_keys;
}
constexpr time_point time_of(std::uint64_t key) noexcept {
  return time_point{duration{static_cast<std::int64_t>(key ^ origin_of_keys)}};
}
static_assert(key_of(time_point::min()) == 0 && key_of(time_point::max()) == ~std::uint64_t{0});
static_assert(time_of(key_of(time_point{duration{-1}})) == time_point{duration{-1}});

// What a bound has left of the turn before; then, from a new horizon, what was late and what is due since. `sink` gets
// what it pops. True: something is due already.
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

// A horizon before `end`; the late timers before it are due.
inline void timer_wheel::set_horizon_before(std::uint64_t end) noexcept {
  list<timer_node> later;
  while (!late_.empty()) {
    timer_node& node = late_.pop_front();
    (key_of(node.when) < end ? due_ : later).push_back(node);
  }
  late_.splice_back(later);
  if (end != 0) horizon_ = std::max(horizon_, end - 1);
}

// Up to the horizon. False: the budget was used up before. Several slots with few timers each are opened before any of
// those fires, so that their memory is on its way meanwhile.
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
