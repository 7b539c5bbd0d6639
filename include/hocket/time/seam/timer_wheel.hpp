// The timers of one executor: a hierarchical timer wheel with a resolution of one nanosecond.
//
// # Guarantees
//
// - attach() and detach() take constant time, and no memory but the node.
// - A timer moves at most once per level before it fires.
// - A timer never fires early. Timers fire in the order of `when`, equal ones in the order of attach().
// - Every time point is allowed. time_point::max() fires only when the clock reaches it.
//
// # Words
//
// A time point counts from time_point::min(). So it is an unsigned number of 64 bits, here of eleven *digits* of six
// bits.
//
//   position   all timers up to this time have left their slots
//   level      of a timer: the highest digit in which its time differs from the position
//   slot       of a timer: the value of that digit in its own time
//   horizon    the reading of the clock in the present turn
//   late       attached when its time was not after the horizon
//
// A few instructions compute level and slot from the time alone. All slots of a level are later than all slots of the
// level below.
//
//   position   ... 3 17 05 40     levels 0 .. 10, 64 slots each (16 on the last), an occupancy bit for each slot
//   timer a    ... 3 17 05 52     level 0, slot 52: due in 12 ns
//   timer b    ... 3 17 30 02     level 1, slot 30: when the position reaches ... 3 17 30 00, or a later time in the
//                                 slot, its timers move to the levels below
//
// # A turn
//
// 1. Reads the clock, once: the horizon.
// 2. Visits the occupied slots up to the horizon, in order, without a step for the empty ones between.
//    - Few timers (at most `crowd`): sorts them. The due ones are collected, over several slots; the others move down.
//    - More: spreads them over the levels below.
// 3. Sets position = horizon.
//
// All positions within one slot give the same place to every timer outside of that slot. So the position need not be
// the beginning of a slot.
//
// A late timer counts as due at the horizon. It fires in the next turn, before the timers that become due by then. So a
// fire() that attaches timers again and again cannot prolong a turn.
//
// # Occupancy bits
//
// A detach does not compute the slot of its timer, and leaves the occupancy bit set. The bit is cleared when the slot
// is the first one. Each bit was set by an attach or a move, so clearing it adds no cost.
//
// # Timers for a time from now (attach_after)
//
// A read of the clock costs more than the rest of an attach. So on a clock that runs by itself, these timers are queued
// without an expiry. The next turn, or next_expiry() before a sleep, reads the clock once and assigns it. That reading
// is later than the attach, so no timer is early. A timer may be late by the rest of the turn of its attach, in which
// it could not have fired. Most of these timers are deadlines of operations that complete soon: they are detached
// first, and never enter a slot. On a clock that the program sets, the clock is read at once.
//
// # The order of equal times
//
// Timers with equal times are always in the same slot, later ones after earlier ones. A slot is spread over empty
// levels, from its end to its begin, and each timer is put before the timers that are there. If a timer is attached
// meanwhile, it goes to the end of its slot, so it is after the timers that are still to be spread.
//
// # Cache misses
//
// A million timers exceed the caches, and a walk over a list would wait for each of them in turn. So each timer in a
// slot refers to a timer that the walk from the end reaches some steps later, and the walk prefetches that one. The
// reference is a hint: that timer may have been detached and freed.
//
// If thousands of timers are attached, the wheel prefetches for timers that fire soon, in two steps: the lines around a
// timer that moves down a level, and the memory of its coroutine (timer_kind::look_ahead) when a slot with few timers
// is sorted.
//
// # Threads
//
// One thread at a time is the *owner*: the thread whose current executor is `home`. Only the owner attaches timers and
// turns the wheel. Any thread may detach: the owner unlinks the node plainly; another thread cannot touch the slots,
// and returns the node to the owner through `link`, the only word of a node that both write:
//
//   link            meaning                                  who changes it, and how
//   null            out: never attached, detached or popped  the owner in attach(), plainly
//   the node        attached                                 the owner in detach(), plainly: out
//                                                            the owner (or its helper, below) when it is due, by
//                                                            compare-exchange: out, fires
//                                                            another thread in detach(), by compare-exchange: returned
//   another node    returned: in the stack of nodes that     the owner in reclaim(), plainly: out, fires
//   or an end       other threads have detached              (or its helper: out, fires)
//
//   another thread: detach(node)                       the owner
//   1. link: node -> top of the stack                  a due node: link: node -> null; fire it. If that fails, skip
//      (fails: it was popped, nothing to do)           it: it is returned, and fires below
//   2. push the node to the stack                      after wake(): reclaim(): take the stack, unlink each of its
//   3. if the stack was empty: waker.wake()            nodes that is still in a slot, set link to null, fire it
//
// So every attach ends in exactly one fire(), or in exactly one detach() on the owner's thread that returns true. (If
// another thread granted the wait, the wait loses its claim in that fire(), and drops the timer's hold.) The owner's
// detach() may be plain, because only one party detaches a registration (timer.hpp).
//
// # A stuck owner
//
// Each of the owner's operations holds a biased lock (base/seam/biased_lock.hpp; ten instructions for an attach and its
// detach). The owner releases the lock while a timer fires. A helper, one thread at a time, borrows the lock in
// assist():
//
//   1. It takes the returned nodes, and pops due timers.
//   2. It releases the lock.
//   3. It fires them.
//
// The helper skips timers that must fire on the owner's thread (timer_kind). If the owner is inside a turn, the helper
// does nothing. A timer that the helper has popped is popped for the owner's detach(), too. If the helper empties the
// stack, the owner has been woken and has not answered yet. So the helper leaves `woken_end_` as the end of the stack,
// and the owner's next reclaim() restores `end_`.
//
// # Hazards
//
// - If a node were freed while another thread accesses it, then that thread would access freed memory. Prevented: the
//   node lives until its fire(), which follows the push in step 2, the last access to the node. A thread that fails in
//   step 1 has its own hold on the wait.
// - If the wheel were destroyed while another thread is in step 3, then wake() would be called on a destroyed executor.
//   Prevented: that thread's hold on the wait keeps the coroutine, and so its executor, until detach() has returned.
// - If a push found a stack that nothing will empty, then its timer would never fire. Prevented: the thread that finds
//   the stack empty wakes the owner, which empties it after the wake; a helper leaves another end.
// - If a helper put `woken_end_` into a stack that the owner has just emptied, then no thread would wake the owner any
//   more. Prevented: the owner empties the stack under the lock.
// - If wake() were called again before its first call was answered, then it could not post the same runnable.
// Prevented:
//   reclaim() is called exactly once for each wake(). Until the owner has emptied the stack, no thread finds it empty.
//   The next push acquires the emptying, so the two calls are ordered.
#pragma once
#include <hocket/base/seam/biased_lock.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Wakes the owner of a wheel.
class timer_waker {
 public:
  // Called on any thread but the owner's. The owner must answer with one call of reclaim(), soon; wake() is not called
  // again before that. Usually the home posts a runnable of its own, which it recognizes by its address.
  virtual void wake() noexcept = 0;

 protected:
  ~timer_waker() = default;
};

class timer_wheel final : public timer_service {
 public:
  static constexpr std::size_t unlimited = ~std::size_t{0};

  // `home` is the executor whose thread turns the wheel; it is only compared. All three must outlive the wheel.
  timer_wheel(const clock_source& time, const executor& home, timer_waker& waker) noexcept;
  // A wheel without an executor: the caller of each function holds a lock of its own, and is the owner meanwhile. Only
  // attach() adds timers.
  explicit timer_wheel(const clock_source& time) noexcept;
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;
  ~timer_wheel();  // no timer may be attached

  time_point now() const noexcept override { return clock_.now(); }
  void attach(timer_node& node) noexcept override;
  void attach_after(timer_node& node) noexcept override;
  [[nodiscard]] bool detach(timer_node& node) noexcept override;
  bool fire_here() const noexcept override;

  // The owner only, like all functions below. A turn: fires the timers that are due. It fires and moves at most
  // `at_most` timers, and the other timers of the last opened slot, if they are few. After that the next turn continues
  // there. True: a timer is due already (because of that bound, or attached late by a fire). Does not read the clock
  // while no timer is attached.
  bool advance(std::size_t at_most = unlimited) noexcept;

  // Fires the timers for a time before an earlier reading of the clock. Called before the poll of a driver that would
  // grant such waits. Timers without an expiry are not due. Then reads the clock, for last_reading(), unless no timer
  // is attached.
  void advance_to(time_point reading, std::size_t at_most) noexcept;

  // Fires the timers that other threads have detached. Must be called exactly once for each wake().
  void reclaim() noexcept;

  // A helper, one thread at a time, at any time before the wheel is destroyed: reclaims and fires the timers that may
  // fire on another thread (see above). Returns the number of fired timers.
  std::size_t assist() noexcept;

  // The time of the next turn:
  // - no timer is attached: time_point::max();
  // - a timer is due already: a time in the past;
  // - else the time of the first timer; if its slot has more than `crowd`, an earlier time, at which a turn spreads
  // them. Constant time, plus the timers without an expiry and the slots that became empty since the last turn.
  time_point next_expiry() noexcept;

  // The reading of the clock by which the last turn fired. Older if the wheel was empty then.
  time_point last_reading() const noexcept { return reading_; }

  // The number of attached timers. Includes timers that other threads have detached, until they are reclaimed.
  std::size_t size() const noexcept { return own(size_) - own(popped_elsewhere_); }
  bool empty() const noexcept { return size() == 0; }

  // The number of fired timers, and the greatest lateness: the time from a timer's expiry to the begin of the turn that
  // fires it. A timer that was due when it was attached is not late.
  // ORDER: relaxed, pairs with the stores under the lock: a statistic.
  std::size_t fired() const noexcept { return fired_.load(std::memory_order_relaxed); }
  duration latest() const noexcept;

  static constexpr std::size_t crowd = 16;

 private:
  // A counter that one thread writes under the lock. Other threads may read an old value.
  // ORDER: relaxed, pairs with the stores in set_size() and help::take(): a read under the lock sees them.
  static std::size_t own(const atomic<std::size_t>& number) noexcept { return number.load(std::memory_order_relaxed); }
  // ORDER: relaxed, pairs with the load in own(): see there.
  void set_size(std::size_t to) noexcept { size_.store(to, std::memory_order_relaxed); }
  timer_wheel(const clock_source& time, const executor* home, timer_waker* waker) noexcept;
  bool is_here() const noexcept;
  // Whether the timers exceed the nearer caches.
  bool is_large() const noexcept { return own(size_) >= 4096; }
  static constexpr std::size_t batch = 16;  // slots that are opened before their due timers fire
  static constexpr unsigned digit_bits = 6;
  static constexpr std::size_t radix = 1u << digit_bits;
  static constexpr std::size_t levels = 11;
  static constexpr std::size_t slots = (levels - 1) * radix + 16;

  struct place {
    std::size_t level;
    std::size_t digit;
    friend bool operator==(const place&, const place&) noexcept = default;
  };
  static constexpr place nowhere{levels, 0};
  static constexpr std::size_t ahead = 4;  // distance of the prefetch in a slot, in timers
  struct bucket {
    list<timer_node> timers;
    const void* before_last[ahead - 1] = {};  // the timers attached before the last one; they may have been freed
  };
  bucket& bucket_of(place at) noexcept { return slots_[at.level * radix + at.digit]; }
  list<timer_node>& slot(place at) noexcept { return bucket_of(at).timers; }
  place place_of(std::uint64_t key) const noexcept;
  place first_place() noexcept;
  std::uint64_t start_of(place at) const noexcept;
  std::uint64_t earliest_in(place at) noexcept;

  void occupy(place at) noexcept;
  void append(timer_node& node, place at) noexcept;
  void prepend(timer_node& node, place at) noexcept;
  void vacate(place at) noexcept;
  void put(timer_node& node) noexcept;
  void enter(timer_node& node) noexcept;
  void enter_fresh(timer_node& node) noexcept;
  bool leave(timer_node& node) noexcept;
  void attach_after_helper(timer_node& node) noexcept;
  void attach_fresh_slowly(timer_node& node) noexcept;
  bool detach_slowly(timer_node& node) noexcept;
  void time_fresh(time_point present) noexcept;
  void set_horizon_before(std::uint64_t end) noexcept;
  template <class Sink>
  bool catch_up(std::size_t& budget, Sink sink) noexcept;
  template <class Sink>
  bool turn(std::size_t& budget, Sink sink) noexcept;
  bool open_next(std::size_t& budget) noexcept;
  bool sort_out(place from, std::size_t& budget) noexcept;
  bool spread(std::size_t& budget) noexcept;
  void found_due(std::uint64_t key) noexcept;
  template <class Sink>
  bool empty_due(std::size_t& budget, Sink sink) noexcept;
  void fire_unlocked(timer_node& node, timer_call why) noexcept;
  void give_back(timer_node& node) noexcept;
  timer_node* take_returned(timer_node& bottom) noexcept;
  void reclaim_chain(timer_node* first) noexcept;
  void lock() noexcept {
    if (!lock_.try_lock()) [[unlikely]]
      lock_after_helper();
  }
  [[HOCKET_COLD]] void lock_after_helper() noexcept;
  // The owner holds the lock for the length of a block.
  class [[nodiscard]] held {
   public:
    explicit held(timer_wheel& wheel) noexcept : wheel_(wheel) { wheel_.lock(); }
    ~held() { wheel_.lock_.unlock(); }
    held(const held&) = delete;
    held& operator=(const held&) = delete;

   private:
    timer_wheel& wheel_;
  };
  struct own_turn;
  class help;

  // Constant.
  const clock_source& clock_;
  const executor* const home_;  // null: the caller is the owner
  timer_waker* const waker_;
  const bool clock_flows_;
  const std::uint32_t forks_;  // at construction

  // The owner only.
  time_point reading_;
  atomic<std::size_t> size_{0};  // written under the lock; includes timers popped by helpers

  // Under the lock.
  biased_lock lock_;
  bool turns_ = false;  // the owner is in a turn, though a timer may fire just now, without the lock
  bool cut_ = false;    // the last turn ended at its bound
  std::uint64_t position_;
  std::uint64_t horizon_;
  std::uint32_t occupied_levels_ = 0;    // a bit for each level with an occupied slot
  std::uint64_t occupied_[levels] = {};  // a bit for each slot with timers; it may be set for an empty slot
  list<timer_node> due_;                 // at the position or late in an earlier turn: to be fired next
  list<timer_node> late_;                // attached since the horizon was read, due by then
  list<timer_node> fresh_;               // attached for a time from now; the next turn assigns the expiry
  list<timer_node> opened_;              // of the slot of the position: spread before any timer fires
  bucket slots_[slots];
  timer_node* for_owner_;  // returned; must be fired by the owner; linked, ends in end_

  // Written under the lock, read by the owner without.
  atomic<std::size_t> popped_elsewhere_{0};
  atomic<std::size_t> fired_{0};
  atomic<std::uint64_t> latest_{0};

  // Any thread.
  timer_node end_, woken_end_;  // addresses that end the stack; woken_end_: the owner was woken
  atomic<timer_node*> returned_{&end_};
};

}}}  // namespace hocket::detail
