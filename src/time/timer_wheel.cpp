#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/time/seam/timer_wheel.hpp>

#include "time/timer_wheel.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The object that contains a timer is around it.
void prefetch_around(const timer_node& node) noexcept {
  prefetch_lines<5>(reinterpret_cast<const std::byte*>(&node) - 64);
}

constexpr std::uint64_t bit(std::size_t number) noexcept { return std::uint64_t{1} << number; }

}  // namespace

timer_wheel::timer_wheel(const clock_source& time, const executor& home, timer_waker& waker) noexcept
    : timer_wheel(time, &home, &waker) {}

timer_wheel::timer_wheel(const clock_source& time) noexcept : timer_wheel(time, nullptr, nullptr) {}

timer_wheel::timer_wheel(const clock_source& time, const executor* home, timer_waker* waker) noexcept
    : clock_(time),
      home_(home),
      waker_(waker),
      clock_flows_(time.is_free_running()),
      forks_(forks_so_far()),
      reading_(time.now()),
      position_(key_of(reading_)),
      horizon_(position_),
      for_owner_(&end_) {}

timer_wheel::~timer_wheel() {
  expects(empty(), "a timer_wheel was destroyed while timers are attached",
          "end the waits of its executor first: join its coroutines, or kill and join them");
}

// --- places

// For a time that is not after the position, the result is a place without the timer.
inline timer_wheel::place timer_wheel::place_of(std::uint64_t key) const noexcept {
  const auto highest = 63u - static_cast<unsigned>(std::countl_zero((key ^ position_) | 1));
  const std::size_t level = highest / digit_bits;
  return {level, static_cast<std::size_t>((key >> (level * digit_bits)) % radix)};
}

// The first slot with timers, or `nowhere`. Clears the bits of empty slots.
timer_wheel::place timer_wheel::first_place() noexcept {
  while (occupied_levels_ != 0) {
    const auto level = static_cast<std::size_t>(std::countr_zero(occupied_levels_));
    const place first{level, static_cast<std::size_t>(std::countr_zero(occupied_[level]))};
    if (!slot(first).empty()) return first;
    vacate(first);
  }
  return nowhere;
}

std::uint64_t timer_wheel::start_of(place at) const noexcept {
  const std::size_t shift = at.level * digit_bits;
  return ((position_ >> shift) / radix * radix + at.digit) << shift;
}

// The earliest time in a slot; the start of the slot, if it has more than `crowd` timers.
std::uint64_t timer_wheel::earliest_in(place at) noexcept {
  std::uint64_t earliest = ~std::uint64_t{0};
  std::size_t count = 0;
  if (at.level == 0) return start_of(at);
  for (timer_node& node : slot(at)) {
    if (++count > crowd) return start_of(at);
    earliest = std::min(earliest, key_of(node.when));
  }
  return earliest;
}

// Adds the timer at the end of a slot. Does not read the timers there, which may be cold.
[[HOCKET_ALWAYS_INLINE]] inline void timer_wheel::append(timer_node& node, place at) noexcept {
  auto& [timers, before_last] = bucket_of(at);
  node.expect_next(before_last[ahead - 2]);
  for (std::size_t i = ahead - 2; i != 0; --i) before_last[i] = before_last[i - 1];
  before_last[0] = timers.empty() ? nullptr : &timers.back();
  timers.push_back(node);
  occupy(at);
}

// Adds the timer at the begin of a slot, whose timers were just added, too.
void timer_wheel::prepend(timer_node& node, place at) noexcept {
  list<timer_node>& to = slot(at);
  auto other = to.begin();
  for (std::size_t i = 1; i < ahead && other != to.end(); ++i) ++other;
  if (other != to.end()) other->expect_next(&node);
  to.push_front(node);
  occupy(at);
}

inline void timer_wheel::occupy(place at) noexcept {
  occupied_[at.level] |= bit(at.digit);
  occupied_levels_ |= 1u << at.level;
}

void timer_wheel::vacate(place at) noexcept {
  occupied_[at.level] &= ~bit(at.digit);
  if (occupied_[at.level] == 0) occupied_levels_ &= ~(1u << at.level);
}

// Adds a timer with a known expiry.
[[HOCKET_ALWAYS_INLINE]] inline void timer_wheel::put(timer_node& node) noexcept {
  const std::uint64_t key = key_of(node.when);
  if (key <= horizon_) return late_.push_back(node);
  append(node, place_of(key));
}

// --- the owner

inline bool timer_wheel::is_here() const noexcept { return current_executor() == home_ || !home_; }

bool timer_wheel::fire_here() const noexcept { return is_here(); }

// Called before the node is linked.
[[HOCKET_ALWAYS_INLINE]] inline void timer_wheel::enter(timer_node& node) noexcept {
  if constexpr (debug_checks) {
    debug_expects(is_here(), "a timer was attached from outside of the wheel's executor",
                  "attach it to the timers() of the current executor");
    // ORDER: relaxed, pairs with nothing: a check of misuse.
    debug_expects(node.link.load(std::memory_order_relaxed) == nullptr, "a timer was attached twice",
                  "wait until it has fired or was detached");
  }
  // ORDER: relaxed, pairs with nothing: a thread that detaches the node has received it through a claim.
  node.link.store(&node, std::memory_order_relaxed);
  set_size(own(size_) + 1);
}

// If a process forks while a helper holds the lock, the child would wait for ever. Prevented by the check.
void timer_wheel::lock_after_helper() noexcept {
  expects(forks_ == forks_so_far(), "timers were used in a child of the process that made them",
          "fork() takes no threads along: fork before the runtime is made, or exec in the child");
  lock_.lock_after_borrower();
}

// The fast paths of the owner's operations call nothing.
void timer_wheel::attach(timer_node& node) noexcept {
  if (!lock_.try_lock()) [[unlikely]]
    return attach_after_helper(node);
  enter(node);
  put(node);
  lock_.unlock();
}

void timer_wheel::attach_after_helper(timer_node& node) noexcept {
  lock_after_helper();
  enter(node);
  put(node);
  lock_.unlock();
}

void timer_wheel::attach_after(timer_node& node) noexcept {
  if (!clock_flows_ || !lock_.try_lock()) [[unlikely]]
    return attach_fresh_slowly(node);
  enter_fresh(node);
  lock_.unlock();
}

void timer_wheel::attach_fresh_slowly(timer_node& node) noexcept {
  if (!clock_flows_) return timer_service::attach_after(node);
  lock_after_helper();
  enter_fresh(node);
  lock_.unlock();
}

inline void timer_wheel::enter_fresh(timer_node& node) noexcept {
  enter(node);
  node.begin_term();
  fresh_.push_back(node);
}

// Assigns an expiry to the fresh timers.
void timer_wheel::time_fresh(time_point present) noexcept {
  while (!fresh_.empty()) {
    timer_node& node = fresh_.pop_front();
    node.limit(present);
    put(node);
  }
}

bool timer_wheel::detach(timer_node& node) noexcept {
  if (current_executor() != home_ || !lock_.try_lock()) [[unlikely]]
    return detach_slowly(node);
  const bool was_in = leave(node);
  lock_.unlock();
  return was_in;
}

bool timer_wheel::detach_slowly(timer_node& node) noexcept {
  if (!is_here()) {
    give_back(node);
    return false;
  }
  const held guard(*this);
  return leave(node);
}

inline bool timer_wheel::leave(timer_node& node) noexcept {
  // ORDER: relaxed, pairs with nothing: no other thread may detach it, and it is popped under the lock.
  timer_node* link = node.link.load(std::memory_order_relaxed);
  debug_expects(link == &node || link == nullptr, "a timer was detached twice",
                "let one party take a registration back: the one that won the wait, or its registrar");
  if (link == nullptr) return false;
  list<timer_node>::erase(node);
  set_size(own(size_) - 1);
  // ORDER: relaxed, pairs with nothing: for the next attach().
  node.link.store(nullptr, std::memory_order_relaxed);
  return true;
}

// The sink of the owner's turn.
struct timer_wheel::own_turn {
  timer_wheel& wheel;
  static bool leaves(const timer_node&) noexcept { return false; }
  void operator()(timer_node& node) const noexcept {
    wheel.set_size(own(wheel.size_) - 1);
    wheel.fire_unlocked(node, timer_call::due);
  }
};

bool timer_wheel::advance(std::size_t at_most) noexcept {
  if constexpr (debug_checks)
    debug_expects(is_here(), "a timer_wheel was turned from outside of its executor", "turn it in the executor's loop");
  if (empty()) return false;
  const held guard(*this);
  turns_ = true;
  const bool more = catch_up(at_most, own_turn{*this});
  turns_ = false;
  reading_ = time_of(horizon_);
  return more;
}

void timer_wheel::advance_to(time_point reading, std::size_t at_most) noexcept {
  if (empty()) return;
  const held guard(*this);
  turns_ = true;
  if (!cut_ || turn(at_most, own_turn{*this})) {
    set_horizon_before(key_of(reading));
    cut_ = !turn(at_most, own_turn{*this});
  }
  turns_ = false;
  reading_ = clock_.now();
}

// Moves the position to the first slot, and takes its timers out; a crowd goes to opened_. False: it is the horizon.
bool timer_wheel::open_next(std::size_t& budget) noexcept {
  const place next = first_place();
  if (next == nowhere || start_of(next) > horizon_) {
    position_ = horizon_;
    return false;
  }
  if (next.level != 0 && sort_out(next, budget)) return true;
  position_ = start_of(next);
  if (next.level == 0) found_due(position_);
  (next.level == 0 ? due_ : opened_).splice_back(slot(next));
  vacate(next);
  return true;
}

// For a slot with few timers: moves the due ones to due_, sorted, and the others down. False: it has more timers.
bool timer_wheel::sort_out(place from, std::size_t& budget) noexcept {
  const bool many = is_large();
  timer_node* sorted[crowd];
  std::size_t count = 0;
  for (timer_node& node : slot(from)) {
    if (count == crowd) return false;
    std::size_t at = count++;
    for (; at > 0 && sorted[at - 1]->when > node.when; --at) sorted[at] = sorted[at - 1];
    sorted[at] = &node;
  }
  budget -= std::min(budget, count);
  vacate(from);
  position_ = std::min(key_of(sorted[count - 1]->when), horizon_);
  if (key_of(sorted[0]->when) <= horizon_) found_due(key_of(sorted[0]->when));
  for (std::size_t i = 0; i < count; ++i) {
    timer_node& node = *sorted[i];
    if (many) node.prefetch();
    list<timer_node>::erase(node);
    const std::uint64_t key = key_of(node.when);
    if (key > horizon_) {
      append(node, place_of(key));
      continue;
    }
    prefetch_around(node);
    due_.push_back(node);
  }
  return true;
}

// From the end: so a timer that is attached meanwhile goes after the timers that are still to be spread.
bool timer_wheel::spread(std::size_t& budget) noexcept {
  const bool many = is_large();
  while (!opened_.empty()) {
    if (budget == 0) return false;
    --budget;
    timer_node& node = opened_.pop_back();
    prefetch(node.expected_next());
    if (many) prefetch_around(node);
    prepend(node, place_of(key_of(node.when)));
  }
  return true;
}

// Records the lateness of a timer that was not due when it was attached.
void timer_wheel::found_due(std::uint64_t key) noexcept {
  // ORDER: relaxed, pairs with the load in latest(): written under the lock; a statistic.
  const std::uint64_t before = latest_.load(std::memory_order_relaxed);
  latest_.store(std::max(before, horizon_ - key), std::memory_order_relaxed);
}

// While it fires, the owner may attach and detach, and another thread may borrow the lock.
void timer_wheel::fire_unlocked(timer_node& node, timer_call why) noexcept {
  lock_.unlock();
  node.fire(why);
  lock();
}

time_point timer_wheel::next_expiry() noexcept {
  if (empty()) return time_point::max();
  const held guard(*this);
  if (!fresh_.empty()) time_fresh(clock_.now());
  if (!due_.empty() || !opened_.empty() || !late_.empty()) return time_of(horizon_);
  const place first = first_place();
  return first == nowhere ? time_point::max() : time_of(earliest_in(first));
}

duration timer_wheel::latest() const noexcept {
  constexpr auto most = static_cast<std::uint64_t>(duration::max().count());
  // ORDER: relaxed, pairs with the store in found_due(): a statistic.
  return duration(static_cast<duration::rep>(std::min(latest_.load(std::memory_order_relaxed), most)));
}

// --- between threads

// On another thread than the owner's: detaches a node, if it was not popped.
void timer_wheel::give_back(timer_node& node) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
  timer_node* top = returned_.load(std::memory_order_relaxed);
  timer_node* attached = &node;
  // ORDER: relaxed, pairs with the compare-exchange in empty_due(): the two only decide which thread owns the node.
  if (!node.link.compare_exchange_strong(attached, top, std::memory_order_relaxed, std::memory_order_relaxed)) return;
  // ORDER: acq_rel, pairs with the exchange in take_returned(): the owner reads the links, and accesses the nodes after
  // this thread; and the waker's last call was answered before the next one, below.
  while (!returned_.compare_exchange_weak(top, &node, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    // ORDER: relaxed, pairs with the loads in take_returned(): the push publishes it.
    node.link.store(top, std::memory_order_relaxed);
  }
  if (top == &end_) waker_->wake();
}

// Takes the returned nodes, first returned first; the list ends in end_. The empty stack ends in `bottom` then.
timer_node* timer_wheel::take_returned(timer_node& bottom) noexcept {
  // ORDER: acq_rel, pairs with the compare-exchange in give_back().
  timer_node* last = returned_.exchange(&bottom, std::memory_order_acq_rel);
  timer_node* first = &end_;
  while (last != &end_ && last != &woken_end_) {
    // ORDER: relaxed, pairs with the exchange: after it this thread owns the nodes.
    timer_node* next = last->link.load(std::memory_order_relaxed);
    last->link.store(first, std::memory_order_relaxed);
    first = last;
    last = next;
  }
  return first;
}

void timer_wheel::reclaim() noexcept {
  if constexpr (debug_checks) {
    debug_expects(is_here(), "reclaim() of a timer_wheel was called from outside of its executor",
                  "reclaim in the executor's loop");
  }
  const held guard(*this);  // first: a helper that has read a node in the stack must not find the stack empty
  reclaim_chain(std::exchange(for_owner_, &end_));
  reclaim_chain(take_returned(end_));
}

void timer_wheel::reclaim_chain(timer_node* first) noexcept {
  while (first != &end_) {
    timer_node& node = *first;
    // ORDER: relaxed, pairs with the exchange in take_returned(): after it the owner owns the nodes.
    first = node.link.load(std::memory_order_relaxed);
    node.link.store(nullptr, std::memory_order_relaxed);
    if (node.linked()) list<timer_node>::erase(node);
    set_size(own(size_) - 1);
    fire_unlocked(node, timer_call::given_back);
  }
}

}}}  // namespace hocket::detail
