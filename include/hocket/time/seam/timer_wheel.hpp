// The timers of one executor: a hierarchical wheel of one nanosecond.
//
// A timer is attached and detached in constant time and costs no memory but its node; it moves at most once per level
// before it fires, never fires early, and fires in the order of `when`, equal ones in the order of attach(). Every time
// point may be asked for. time_point::max() fires only when the clock gets there.
//
// Words. A time point is counted from time_point::min(), so it is an unsigned number of 64 bits, here of eleven
// *digits* of six bits. The *position* is the time up to which everything was taken out. A timer stands on the *level*
// of the highest digit in which its time differs from the position, in the *slot* of the value that this digit has in
// its own time. So it is found by a few instructions from its time alone, and all slots of a level lie ahead of those
// of the level below.
//
//   position   ... 3 17 05 40     levels 0 .. 10, 64 slots each (16 on the last), an occupancy bit for each slot
//   timer a    ... 3 17 05 52     level 0, slot 52: due in 12 ns
//   timer b    ... 3 17 30 02     level 1, slot 30: when the position gets to ... 3 17 30 00, or beyond within the
//                                 slot, its timers are spread over the levels below
//
// A turn reads the clock, once: that is the *horizon*. It goes from occupied slot to occupied slot, without a step in
// between however far that is, and ends with position = horizon. All positions within one slot give the same place to
// every timer outside of it, so the position need not stop at the beginning of a slot. If its timers are few enough to
// look at, they are sorted there and then: those that are due are gathered, of several slots, and the others go down.
//
// What has left a slot leaves its occupancy bit behind: so a timer is detached without asking where it stands. The bit
// goes when the slot comes to be the first. Each bit was set by an attach or a move, so that costs nothing more.
//
// Timers for a time from now (attach_after). To read the clock costs more than all the rest, so on a clock that goes on
// by itself they stand apart, without a time, until the next turn reads it, or next_expiry() before a sleep: their time
// is counted from there. It was read after they were attached, so none is early; they may be late by what was left of
// the turn in which they came, in which none could have fired. Most are detached before, as a deadline of what was
// about to happen; they never see a slot. Where a clock stands still until it is told to go on, it is read at once.
//
// Why equal times keep their order: their timers always stand in the same slot, later ones behind. A slot is spread
// over levels that are empty then, from its end to its begin, each timer in front of those that are there: so one that
// is attached in the middle of it, to the end of its place, is behind what is still to come.
//
// A million timers are more than the caches hold, and a walk over a list waits for each of them in turn. So a timer in
// a slot knows another one that the walk from the end meets some steps later, and its memory is asked for there. That
// is no more than a guess: the other may have been detached, and be gone.
//
// If thousands of timers are attached, then the wheel prefetches for timers that fire soon, in two steps: the lines
// around a timer that moves down a level; and the memory of its coroutine (timer_kind::prefetch) when a slot with few
// timers is sorted.
//
// A timer that is attached when its time is not after the horizon is *late*: it counts as due at the horizon, and fires
// at the next turn, before what becomes due by then. So a fire() that attaches again and again cannot hold a turn up.
//
// Threads. One thread at a time is the *owner*: the one whose current executor is `home`. Only the owner attaches,
// turns and asks. detach() may come from any thread; on the owner's it is a plain unlinking. Everywhere else it cannot
// touch the slots, and says so to the owner by the only word that both sides write, `link` of the node:
//
//   link            meaning                                  who leaves it, and how
//   null            out: never attached, detached or popped  the owner in attach(), plainly
//   the node        attached                                 the owner in detach(), plainly: out
//                                                            the owner (or its helper, below) when it is due, by
//                                                            compare-exchange: out, fires
//                                                            another thread in detach(), by compare-exchange: returned
//   another node    returned: in the stack of nodes that     the owner in reclaim(), plainly: out, fires
//   or an end       other threads have detached              (or its helper: out, fires)
//
//   another thread: detach(node)                       the owner
//   1. link: node -> top of the stack                  a due node: link: node -> null; fire it. If that fails, forget
//      (fails: it was popped, nothing to do)           it: it is returned, and fires below
//   2. push the node to the stack                      after wake(): reclaim(): take the stack, unlink each of its
//   3. if the stack was empty: waker.wake()            nodes that is still in a slot, set link to null, fire it
//
// So every attach ends in exactly one fire() or in exactly one detach() that returns true; the latter is the owner's.
// (A wait that was granted elsewhere loses its claim in that fire, and drops the timer's hold.) The owner's detach()
// may be plain because one party only takes a registration back (timer.hpp): if that is the owner, nobody else tries.
//
// A stuck owner. Each of the owner's operations holds a biased lock (base/seam/biased_lock.hpp; ten instructions for
// an attach and its detach). The owner releases the lock while a timer fires. A helper, one thread at a time, borrows
// the lock in assist():
//   1. It takes the returned nodes, and pops due timers.
//   2. It gives the lock back.
//   3. It fires them.
// The helper skips timers that must fire on the owner's thread (timer_kind). If the owner is inside a turn, the helper
// does nothing. A timer that the helper has popped is popped for the owner's detach(), too. If the helper empties the
// stack, the owner has been woken and has not answered yet. So the helper leaves `asked_` as the end of the stack, and
// the owner's next reclaim() restores `end_`.
//
// Hazards. *A node is freed while another thread looks at it*: its memory is good until its fire(), which comes after
// the push in step 2, the last touch of the node; and a thread that fails in step 1 has its own hold on the wait. *The
// wheel is destroyed while another thread is in step 3*: that thread's hold on the wait keeps the coroutine from
// ending, and so its executor from going, until detach() has returned. *A wake-up is lost*: who finds the stack empty
// wakes. The owner empties it after the wake; a helper leaves another end behind. *If a helper
// put `asked_` into a stack that the owner has just emptied, then no thread would wake the owner any more.* Prevented:
// the owner empties the stack under the lock. *The
// waker is called twice, while its first call is under way or unanswered*: for that reason reclaim() is called once for
// each wake(), not on suspicion: until the owner has emptied the stack, nobody finds it empty. The emptying is acquired
// by the next push, so the two calls are ordered, too, and wake() may post one and the same runnable each time.
#pragma once
#include <hocket/base/seam/biased_lock.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// How the wheel gets its owner's attention.
class timer_waker {
 public:
  // Any thread but the owner's. The owner must answer with one call of reclaim(), soon. There is no second wake()
  // before that. Usually: the home posts a runnable of its own that it knows by its address.
  virtual void wake() noexcept = 0;

 protected:
  ~timer_waker() = default;
};

class timer_wheel final : public timer_service {
 public:
  static constexpr std::size_t unlimited = ~std::size_t{0};

  // `home` is the executor whose thread turns the wheel; it is only compared with. All three outlive the wheel.
  timer_wheel(const clock_source& time, const executor& home, timer_waker& waker) noexcept;
  // One that is no executor's: whoever uses it has locked it, and is its owner meanwhile. Only attach() puts into it.
  explicit timer_wheel(const clock_source& time) noexcept;
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;
  ~timer_wheel();  // no timer may be attached

  time_point now() const noexcept override { return clock_.now(); }
  void attach(timer_node& node) noexcept override;
  void attach_after(timer_node& node) noexcept override;
  [[nodiscard]] bool detach(timer_node& node) noexcept override;
  bool fire_here() const noexcept override;

  // Owner only, as all that follows. A turn: fires what is due by now. It fires at most `at_most` timers, and moves no
  // more, but for those of the last slot that it opens, if they are few; when they are used up, the next turn goes on
  // from there. True: something is due already (left by that bound, or attached late by a fire). The clock is not asked
  // while no timer is attached.
  bool advance(std::size_t at_most = unlimited) noexcept;

  // Fires the timers for a time before an earlier reading of the clock: before a driver that would grant such waits.
  // Times from now are not due. Then reads the clock, for last_reading(); not while no timer is attached.
  void advance_to(time_point reading, std::size_t at_most) noexcept;

  // Fires what other threads have detached. To be called once for each wake(), and not otherwise.
  void reclaim() noexcept;

  // A helper, one thread at a time, at any time before the wheel is destroyed: reclaims and fires the timers that may
  // fire on another thread (see above). Returns how many have fired.
  std::size_t assist() noexcept;

  // When the next turn is needed: time_point::max() if no timer is attached; in the past, if something is due already;
  // else the time of the first timer, or, if its slot holds more than `crowd`, a time before it at which a turn will
  // spread them. Constant time, but for the timers for a time from now that came since the last turn, and for slots
  // that were left empty.
  time_point next_expiry() noexcept;

  // The reading of the clock by which the last turn fired. Older if the wheel was empty then.
  time_point last_reading() const noexcept { return reading_; }

  // Timers attached, with those that other threads have detached and that were not reclaimed yet.
  std::size_t size() const noexcept { return own(size_) - own(popped_elsewhere_); }
  bool empty() const noexcept { return size() == 0; }

  // How many timers have fired, and how late at most: how long after its time the turn began that found it due. One
  // that was due when it was attached is not late.
  // ORDER: relaxed, pairs with the stores under the lock: a number for people.
  std::size_t fired() const noexcept { return fired_.load(std::memory_order_relaxed); }
  duration latest() const noexcept;

  static constexpr std::size_t crowd = 16;

 private:
  // A counter that one thread writes under the lock. Other threads may read an old value.
  // ORDER: relaxed, pairs with the stores in set_size() and help::take(): what is missed is seen under the lock.
  static std::size_t own(const atomic<std::size_t>& number) noexcept { return number.load(std::memory_order_relaxed); }
  // ORDER: relaxed, pairs with the load in own(): see there.
  void set_size(std::size_t to) noexcept { size_.store(to, std::memory_order_relaxed); }
  timer_wheel(const clock_source& time, const executor* home, timer_waker* waker) noexcept;
  bool is_here() const noexcept;
  // Whether what waits is more than the nearer caches hold.
  bool is_large() const noexcept { return own(size_) >= 4096; }
  static constexpr std::size_t batch = 16;  // slots that are opened before what was due in them is fired
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
  static constexpr std::size_t ahead = 4;  // how far a walk over a slot looks ahead, in timers
  struct bucket {
    list<timer_node> timers;
    const void* before_last[ahead - 1] = {};  // who came before the last one; may be gone
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
  const executor* const home_;  // null: the owner is whoever calls
  timer_waker* const waker_;
  const bool clock_flows_;
  const std::uint32_t forks_;  // when it was made

  // The owner's.
  time_point reading_;
  atomic<std::size_t> size_{0};  // written under the lock; includes timers popped by helpers

  // Under the lock.
  biased_lock lock_;
  bool turns_ = false;  // the owner is in a turn, though a timer may fire just now, without the lock
  bool cut_ = false;    // the last turn used its bound up
  std::uint64_t position_;
  std::uint64_t horizon_;
  std::uint32_t occupied_levels_ = 0;    // a bit for each level with an occupied slot
  std::uint64_t occupied_[levels] = {};  // a bit for each slot with timers; of one that they have left it may be set
  list<timer_node> due_;                 // at the position or late in an earlier turn: to be fired next
  list<timer_node> late_;                // attached since the horizon was read, due by then
  list<timer_node> fresh_;               // attached for a time from now; what time that is says the next turn
  list<timer_node> opened_;              // of the slot that the position is in: to be spread before anything fires
  bucket slots_[slots];
  timer_node* left_;  // returned, but to be fired by the owner; linked, with the end at the end

  // Written under the lock, read by the owner without.
  atomic<std::size_t> popped_elsewhere_{0};
  atomic<std::size_t> fired_{0};
  atomic<std::uint64_t> latest_{0};

  // Any thread.
  timer_node end_, asked_;  // only their addresses are used: the bottom of the stack; asked_: the owner was woken
  atomic<timer_node*> returned_{&end_};
};

}}}  // namespace hocket::detail
