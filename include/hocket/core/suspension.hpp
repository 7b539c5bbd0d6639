// One suspension of one coroutine, and its registrations: what every awaiter of the library embeds.
//
// A `suspension` is the wait as a whole: whom to resume and where (runnable), who ends it (claim), its deadline and its
// stop. A `waiter` is one registration of it in one primitive; a plain wait has one waiter, a select several.
//
// The life of a wait, for the author of a primitive:
//   1. await_suspend(handle): suspension.arm(handle, terms). It notes the current executor and context.
//   2. Under the primitive's lock: either the resource is free and suspension.take_now(waiter, *this) says that nobody
//      has ended the wait yet (then it is the caller's), or waiter.enlist(suspension, *this) and push the waiter to the
//      primitive's list. A select does this for each of its registrations, until one is decided().
//      A primitive that lists a waiter without a lock (oneshot, baton) enlists it first; if the resource is found free
//      after all, it takes that and calls waiter.grant(), and puts it back if the answer is false.
//   3. return suspension.commit(): registers the deadline and the stop of the context, then ends the registering.
//      True: suspended; from here on everything may already be gone. False: decided already, do not suspend.
//   4. The primitive grants: under its lock it pops a waiter, outside it calls waiter.grant(). False: somebody else
//      won (the waiter is gone then), so the primitive offers the resource to the next. True: granted.
//      The usual wait has one waiter, a stop and perhaps an alarm. Whoever grants it takes the latter two back first,
//      and if both came, has the claim to itself: so that grant is a read-modify-write of the stop source and none of
//      the claim (claim.hpp). An alarm of another thread is taken back after the claim is decided, since it
//      rings then (core/timer.hpp).
//      A source that has to work for what it grants, on memory of the wait (a blocking call), grants in two steps: from
//      begin_grant() on the wait is granted, and nobody else ends it; finish_grant() lets the coroutine go on.
//      A source whose grants go from one wait to another (a channel) decides them under its lock, and tells those whom
//      it has granted outside: waiter.settle(), suspension.take_now_with(), then waiter.settled().
//   5. await_resume: suspension.finish() gives the verdict. `granted` hands the resource to the caller.
//   6. ~waiter: granted but never finished (the coroutine was destroyed before it ran): wait_source::pass_on().
//
// An awaiter declares its suspension before its waiters: these ask it when they are destroyed.
//
// Hazards. *A loser touches freed memory*: every registration holds the claim; the last holder posts (claim.hpp).
// *A primitive's lock is taken under another's*: detach() is called with no lock held. *The winner reads registrations
// that are being made*: it is told `early` and leaves that to the registrar. *A lost wake-up*: a registration is
// visible only under its source's lock, and a source that changes state does so under the same lock.
#pragma once
#include <hocket/core/claim.hpp>
#include <hocket/core/runnable.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/timer.hpp>
#include <cstddef>
#include <source_location>

namespace hocket::inline HOCKET_ABI {

class observer;
class context;
class suspension;
class waiter;

// A primitive, as its waiters see it.
class wait_source {
 public:
  // What it is, for people: "mutex", "semaphore". A literal.
  virtual const char* what() const noexcept = 0;

  // The name of what it is about, as the coroutine that is joined; null if it has none. Lives as long as the source.
  virtual const char* subject() const noexcept { return nullptr; }

  // The coroutine that must go on before this can be granted, if it is one, and known: who holds the mutex, who is
  // joined. For those who look at a wait while its threads stand still; to be compared only, since it may have ended.
  virtual const void* holder() const noexcept { return nullptr; }

  // What can be counted of its state, for those who look in the same way, and for people: {"held by", 3, "reader"}.
  struct tally {
    const char* words = nullptr;  // literals; null: nothing
    std::size_t count = 0;
    const char* thing = nullptr;  // one of them
  };
  virtual tally counted() const noexcept { return {}; }

  // Any thread, without locks: takes `entry` out of the list. True: it was in, and nobody will pop it any more.
  [[nodiscard]] virtual bool detach(waiter& entry) noexcept = 0;

  // Takes back what was granted to `entry` and never consumed, and gives it to the next (a permit, an item).
  virtual void pass_on(waiter& entry) noexcept = 0;

 protected:
  ~wait_source() = default;
};

// The terms of one wait, beside those of the coroutine's context. Both deadlines hold, and that of the context: the
// earliest ends the wait. `within` counts from the suspension, or from the next look at the clock (core/timer.hpp).
struct wait_terms {
  // No deadlines. Not explicit: the place where a wait is asked for is all that most of them say.
  wait_terms(std::source_location place = {}, verdict ignored = verdict::idle) noexcept : ignore(ignored), at(place) {}
  wait_terms(time_point deadline, duration time, verdict ignored, std::source_location place) noexcept
      : until(deadline), within(time), ignore(ignored), at(place) {}
  // One by one, and so out of registers: words that were just written and are copied in pairs wait for the cache.
  wait_terms(const wait_terms& other) noexcept : wait_terms(other.until, other.within, other.ignore, other.at) {}
  wait_terms& operator=(const wait_terms&) = default;

  time_point until = time_point::max();
  duration within = duration::max();
  verdict ignore = verdict::idle;  // cancelled: only a kill stops it; killed: nothing does, no deadline either (a join)
  std::source_location at;         // where the wait was asked for
};

// One registration in the list of one primitive. Its links belong to the primitive, under the primitive's lock.
class waiter : public list_node {
 public:
  waiter() noexcept = default;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  ~waiter();  // passes a grant on that was never consumed

  // Registrar only, before the waiter becomes visible to others: is pushed to the list of `source` under its lock.
  void enlist(suspension& wait, wait_source& source) noexcept;

  // By the source that popped the waiter, without locks. True: the wait is granted. In either case the caller must
  // not touch the waiter again.
  bool grant() noexcept;

  // The same by a source that need not be there any more once the wait is over: what cannot be granted goes back to it
  // first, by pass_on().
  void grant_or_pass_on() noexcept;

  // The same in two steps; see above. False: as above, and there is no second step. In between the waiter and its wait
  // stay where they are. Such a source outlives the wait.
  [[nodiscard]] bool begin_grant() noexcept;
  void finish_grant() noexcept;

  // The first step by a source whose waits end by its own hand whoever ends them (a condition: the mutex must be had
  // again). Where somebody else won, the waiter stays with the source, too, and there is a second step. Such a source
  // answers detach() with false, and goes on to the second step then.
  [[nodiscard]] bool claim_grant() noexcept;

  // Any thread, by the source that such a waiter is handed on to, before others see it there: those who look at the
  // wait are told of that source, until the second step.
  void adopted_by(const wait_source& source) noexcept;

  // The same for a source that decides under its lock, because what it grants goes through the memory of the wait.
  // Under the lock, for a waiter that stands in its list: lost means that others have ended the wait; they take the
  // waiter out. Else the wait is granted: the source takes the waiter out at once, and calls settled() with the answer
  // later, without locks; until then the wait stays where it is.
  [[nodiscard]] settlement settle() noexcept;
  void settled(settlement how) noexcept;

  // Which one of the waiters of a wait was granted, if they are in an array that begins with `first`, and that one was
  // enlisted, or took its resource.
  static std::size_t granted_of(const waiter* first) noexcept;

  // Whether it is a registration of this wait.
  bool belongs_to(const suspension& wait) const noexcept { return wait_ == &wait; }

  // By a source that matched a waiter of its own list with one of another select: grants both or none. When none, the
  // caller still holds both and lets each go with abandon() (if that wait was decided by others) or lists it again:
  // under its lock, and then asks decided() under the same lock. If true, the winner may have come too early to detach
  // it, so the caller takes it out once more and abandons it.
  static bool grant_both(waiter& one, waiter& other) noexcept;

  // By the source that popped the waiter and found its wait decided already: drops its hold, changes nothing else.
  void abandon() noexcept;

  // Whether the wait was decided. True is final; false may be outdated at once.
  bool decided() const noexcept;

  // The primitive's own: what the waiter asks for, or what it was given. Set before it is pushed to the list.
  void* resource = nullptr;

 private:
  friend class suspension;
  void join(suspension& wait, wait_source& source) noexcept;

  suspension* wait_ = nullptr;  // null: never enlisted, and the others are not set
  wait_source* source_;
  waiter* sibling_;  // the next registration of the same suspension
};

class suspension : private stop_node, private timer_node {
 public:
  suspension() noexcept {}  // most of it is set by arm()
  suspension(const suspension&) = delete;
  suspension& operator=(const suspension&) = delete;
  ~suspension() {
    if constexpr (debug_checks) expect_over();
  }

  // Registrar only. `handle` is null for a thread. Notes the current executor (which must exist) and context.
  void arm(std::coroutine_handle<> handle, const wait_terms& terms = {}) noexcept;

  // Registrar only, instead of enlisting `entry`: the resource of `source` is free. True: the wait is granted, the
  // caller takes the resource and enlists no more. False: another registration was granted meanwhile.
  [[nodiscard]] bool take_now(waiter& entry, wait_source& source) noexcept;

  // The same where the resource is that of another wait (a sender's item, a receiver's wish), in the list of `source`
  // and under its lock: grants both or none. True: `other` is settled as by waiter::settle(), with the answer in `how`.
  // False: one of the two was decided before; if it is this one, decided() says so.
  [[nodiscard]] bool take_now_with(waiter& entry, wait_source& source, waiter& other, settlement& how) noexcept;

  // Registrar only, before commit(): whether that will find a stop that was requested before. For a source that begins
  // something: it need not.
  bool stopped_before() const noexcept;

  // Registrar only, instead of commit(): the resource was free, nothing was registered.
  void disarm() noexcept;

  // Registrar only. See the protocol above.
  [[nodiscard]] bool commit() noexcept;

  // The coroutine itself, after it ran again: restores its context as the current one and gives the verdict.
  verdict finish() noexcept;
  bool finished() const noexcept { return finished_; }

  verdict outcome() const noexcept { return claim_.outcome(); }
  bool decided() const noexcept { return outcome() > verdict::reserved; }
  // Decided, and nobody is at work on it: the coroutine is ready.
  bool over() const noexcept { return decided() && !claim_.held(); }

  // For those who look at a wait under way, on the thread of its executor: the first source it waits for, and where it
  // was asked for. Null: there is none; or the wait is decided, though perhaps not over, and the source may be gone.
  // One that grants in two steps, or has adopted a waiter, is told until the second step.
  const wait_source* awaited() const noexcept;
  // It has one source, and no deadline; or it is decided, and what is awaited() is all that is missing.
  bool ends_only_by_grant() const noexcept;
  const std::source_location& at() const noexcept { return at_; }
  time_point deadline(time_point present) const noexcept {
    if (after() == duration::max()) return timer_node::when;
    const time_point then = deadline_after(present, after());
    return then < timer_node::when ? then : timer_node::when;
  }

 private:
  friend class waiter;

  void expect_over() const noexcept;
  const wait_source* first_source() const noexcept;
  [[gnu::always_inline]] inline void begin_observed_wait() noexcept;
  const void* observed_as() const noexcept;
  [[gnu::cold, gnu::noinline]] void tell_suspended(observer& watcher) const noexcept;
  [[gnu::cold, gnu::noinline]] void tell_woken(observer& watcher) const noexcept;
  [[gnu::always_inline]] inline void watch() noexcept;
  [[gnu::noinline]] void watch_clock() noexcept;
  [[gnu::always_inline]] inline void watch_stop(stop_source& source) noexcept;
  [[gnu::cold, gnu::noinline]] bool go_straight_on(bool observed) noexcept;
  bool grant(waiter& entry) noexcept;
  [[gnu::noinline]] bool settle_grant(waiter& entry) noexcept;
  [[gnu::noinline]] bool settle_beside_alarm(waiter& entry, std::uint32_t holds, bool attached) noexcept;
  std::uint32_t release_all(const void* except) noexcept;
  void conclude(settlement how, const void* self) noexcept;
  [[gnu::always_inline]] inline void post() noexcept;
  static void on_stop(stop_node& self, verdict strength) noexcept;
  static void on_alarm(timer_node& self) noexcept;

  claim claim_;
  bool finished_ = true;
  verdict ignore_;                                // of the terms
  atomic<const wait_source*> finisher_{nullptr};  // who is to call finish_grant(), once the wait is decided
  runnable run_;
  waiter* first_;   // the registrations, last first; written by the registrar while registering
  waiter* winner_;  // written by the winning waiter before it drops its hold
  context* ctx_;
  stop_source* stop_;        // where the stop node is attached; null if it is not
  timer_service* timers_;    // where the alarm is attached; null if it is not
  std::source_location at_;  // of the terms
};

inline void waiter::join(suspension& wait, wait_source& source) noexcept {
  wait_ = &wait;
  source_ = &source;
  sibling_ = wait.first_;
  wait.first_ = this;
}

inline bool suspension::ends_only_by_grant() const noexcept {
  if (decided()) return true;
  return first_ && !first_->sibling_ && timer_node::when == time_point::max() && after() == duration::max();
}

inline void waiter::enlist(suspension& wait, wait_source& source) noexcept {
  join(wait, source);
  wait.claim_.hold();
}

inline std::size_t waiter::granted_of(const waiter* first) noexcept {
  return static_cast<std::size_t>(first->wait_->winner_ - first);
}

inline bool waiter::grant() noexcept { return wait_->grant(*this); }

inline waiter::~waiter() {
  if (!wait_) return;
  if constexpr (debug_checks) wait_->expect_over();
  if (!wait_->finished_ && wait_->winner_ == this) [[unlikely]]
    source_->pass_on(*this);
}

}  // namespace hocket::inline HOCKET_ABI
