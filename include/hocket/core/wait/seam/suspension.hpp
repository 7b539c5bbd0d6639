// One suspension of one coroutine, and its registrations: what every wait of the library is made of.
//
// A `suspension` is the wait as a whole: the coroutine and its executor (runnable), the claim that decides its end, its
// deadline and its stop. A `waiter` is one registration of it in one primitive; a plain wait has one waiter, a select
// several.
//
// The life of a wait, for the author of a primitive:
//   1. await_suspend(handle): suspension.arm(handle, options). It notes the current executor and context.
//   2. Under the primitive's lock: either the resource is free and suspension.take_now(waiter, *this) says that nobody
//      has ended the wait yet (then it is the caller's), or waiter.enlist(suspension, *this) and push the waiter to the
//      primitive's list. A select does this for each of its registrations, until one is decided().
//      A primitive that lists a waiter without a lock (oneshot, baton) enlists it first; if the resource is found free
//      after all, the primitive takes the resource and calls waiter.claim_popped(). If the claim is lost, the primitive
//      puts the resource back.
//   3. return suspension.commit(): registers the deadline and the stop of the context, then ends the registering.
//      True: suspended; from here on everything may already be gone. False: decided already, do not suspend.
//      Commit first: a cheaper order for a wait with one waiter, no deadline, and a primitive that links under a lock.
//      commit_first() stores the holds of the waiter and of the stop, and attaches the stop. Then the primitive takes
//      its lock and looks again. If the wait is decided() or the resource is free, the primitive does not link the
//      waiter, and the registrar calls not_listed() instead of commit(). If the primitive links the waiter, the
//      registrar touches the wait no more. If a stop fires before the waiter is linked, the stop's detach() finds no
//      waiter. The primitive then sees decided(), because detach() and begin() take one lock. (A join has no lock: its
//      detach() leaves a mark in the word by which the join publishes the waiter, core/spawn/seam/scheduled.hpp.)
//   4. The primitive grants. Under its lock it calls waiter.claim() on a linked waiter. If the result is empty, another
//      party has ended the wait and will unlink the waiter: the primitive tries the next. Otherwise the primitive
//      unlinks the waiter, moves the item, unlocks, and posts the grant (core/wait/seam/grant.hpp).
//      A primitive that pops a waiter by a compare-exchange calls claim_popped() afterwards. If the result is empty,
//      the waiter may be destroyed already.
//      Most waits have one waiter, a stop and perhaps an alarm. The claim detaches the stop and the alarm first. If
//      both succeed, no other party holds the claim, and the claim ends by a plain store (claim.hpp). So that grant
//      costs one read-modify-write, of the stop source. An alarm of another thread is detached after the claim is
//      decided, because that alarm fires on detach (core/thread/seam/timer.hpp).
//      Lock order: the mutexes of stop sources and of timers are taken under the lock of a primitive. The reverse never
//      happens, because stop sources and timers fire without a lock.
//   5. await_resume: suspension.finish() returns the end of the wait. `granted` hands the resource to the caller.
//   6. ~waiter: granted but never finished (the coroutine was destroyed before it ran): wait_source::pass_on().
//
// An awaiter declares its suspension before its waiters: these ask it when they are destroyed.
//
// Hazards. *A loser touches freed memory*: every registration holds the claim; the last holder posts (claim.hpp).
// *A primitive's lock is taken under another's*: detach() is called with no lock held. So the post unlinks the other
// registrations, and the claim does not. *The winner reads registrations that are being made*: it learns `early`, and
// the registrar detaches them. *A lost wake-up*: a registration is visible only under its source's lock, and the
// source changes its state under that lock.
#pragma once
#include <hocket/base/seam/call_site.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/runnable.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/core/wait/detail/claim.hpp>
#include <hocket/core/wait/detail/wait_source.hpp>
#include <hocket/core/wait/seam/grant.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

class context;
class coroutine_id;

namespace detail {
struct thread_state;
struct wait_room;
}  // namespace detail

namespace detail {

// The options of a wait that has none of its own.
struct no_options {
  no_options(call_site place = {}) noexcept : at(place) {}
  call_site at;  // where the wait was asked for
};

// The options of one wait, beside those of the coroutine's context. The earliest deadline ends the wait: one of these
// two, or the context's. `within` counts from the suspension, or from the next look at the clock
// (core/thread/seam/timer.hpp).
struct wait_options {
  // No deadlines.
  wait_options() noexcept = default;
  wait_options(call_site place, stop_level ignored) noexcept : ignore(ignored), at(place) {}
  wait_options(time_point deadline, duration time, stop_level ignored, call_site place) noexcept
      : until(deadline), within(time), ignore(ignored), at(place) {}
  wait_options(const no_options& plain) noexcept : at(plain.at) {}
  // Copies member by member: a 16-byte load of two just-written words defeats store forwarding (decision 020).
  wait_options(const wait_options& other) noexcept : wait_options(other.until, other.within, other.ignore, other.at) {}
  wait_options& operator=(const wait_options&) = default;

  // The stricter of these and another limit.
  wait_options& limit(time_point deadline) noexcept {
    if (deadline < until) until = deadline;
    return *this;
  }
  wait_options& limit(duration time) noexcept {
    if (time < within) within = time;
    return *this;
  }
  wait_options& shield(stop_level level) noexcept {
    if (level > ignore) ignore = level;
    return *this;
  }

  time_point until = time_point::max();
  duration within = duration::max();
  // cancel: only a kill stops the wait. kill: nothing does, no deadline either (a join).
  stop_level ignore = stop_level::none;
  call_site at{};  // where the wait was asked for
};

}  // namespace detail

namespace primitive {

// One registration in the list of one primitive. Its links belong to the primitive, under the primitive's lock.
class waiter : public detail::list_node {
 public:
  waiter() noexcept = default;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  ~waiter();  // passes a grant on that was never consumed

  // Registrar only, before the waiter becomes visible to others: is pushed to the list of `source` under its lock.
  void enlist(suspension& wait, wait_source& source) noexcept;

  // enlist(), unless commit_first() has enlisted the waiter already.
  void enlist_or_stay(suspension& wait, wait_source& source) noexcept;

  // Called under the lock of the source, while the waiter is linked. Empty: another party has ended the wait, and
  // unlinks the waiter.
  [[nodiscard]] grant claim() noexcept;

  // Called without locks, by the source that popped the waiter. Empty: another party has ended the wait, and the
  // waiter must not be touched again.
  [[nodiscard]] grant claim_popped() noexcept;

  // The grant that defer() stored in the waiter. For conditions, also after a lost claim: a condition returns false
  // from detach(), because the mutex must be reacquired. Then the condition owns this grant.
  [[nodiscard]] grant deferred() noexcept;

  // Which one of the waiters of a wait was granted, if they are in an array that begins with `first`, and that one was
  // enlisted, or took its resource.
  static std::size_t granted_of(const waiter* first) noexcept;

  // Whether the waiting coroutine resumes on the thread of `executor`. Only before the wait is over.
  bool resumes_on(const executor& executor) const noexcept;
  // While the waiter is enlisted: prefetches the memory that its wake-up touches.
  void prefetch_wakeup() const noexcept;

  // Whether the wait is decided. By a party that holds the claim: the source that linked or popped the waiter.
  bool decided() const noexcept;

  // Whether it is a registration of this wait.
  bool belongs_to(const suspension& wait) const noexcept { return wait_ == &wait; }

  // The primitive's own: what the waiter asks for, or what it was given. Set before it is pushed to the list.
  void* resource = nullptr;

 private:
  friend class suspension;
  friend class grant;
  friend class grants;
  void join(suspension& wait, wait_source& source) noexcept;

  suspension* wait_ = nullptr;  // null: never enlisted, and the others are not set
  wait_source* source_;
  waiter* sibling_;  // the next registration of the same suspension
};

class suspension : private detail::stop_node, private detail::timer_node, private detail::runnable {
 public:
  suspension() noexcept {}  // most of it is set by arm()
  suspension(const suspension&) = delete;
  suspension& operator=(const suspension&) = delete;
  ~suspension() {
    if constexpr (detail::debug_checks) expect_over();
  }

  // Registrar only. `coroutine` is null for a thread. Notes the current executor (which must exist) and context.
  void arm(std::coroutine_handle<> coroutine, const detail::wait_options& options) noexcept;
  void arm(std::coroutine_handle<> coroutine, detail::no_options options = {}) noexcept;

  // Registrar only, instead of enlisting `entry`: the resource of `source` is free. True: the wait is granted, the
  // caller takes the resource and enlists no more. False: another registration was granted meanwhile.
  [[nodiscard]] bool take_now(waiter& entry, wait_source& source) noexcept;

  // The same where the resource is that of another wait (a sender's item, a receiver's wish), in the list of `source`
  // and under its lock: grants both or none. Empty: one of the two waits was decided before; decided() tells whether
  // this one was. Otherwise the source unlinks `other`.
  [[nodiscard]] grant meet(waiter& entry, wait_source& source, waiter& other) noexcept;

  // Registrar only, before commit(): whether that will find a stop that was requested before. For a source that begins
  // something: it need not.
  bool stopped_before() const noexcept;

  // Registrar only. See the protocol above.
  [[nodiscard]] bool commit() noexcept;

  // Registrar only, before `entry` is linked at `source`. Commits the wait, if it has no deadline and is not stopped.
  // True: committed. The registrar links `entry` next, or calls not_listed(). False: nothing happened, use commit().
  [[nodiscard]] bool commit_first(waiter& entry, wait_source& source) noexcept;
  // Registrar only, after commit_first(), if `entry` was not linked. Returns what commit() would.
  [[nodiscard]] bool not_listed() noexcept { return continue_at_once(true, first_); }

  // The coroutine itself, after it ran again: restores its context as the current one and returns the end of the wait.
  detail::wait_end finish() noexcept;
  bool finished() const noexcept { return finished_; }

  bool granted() const noexcept { return claim_.state() == detail::claim_state::granted; }
  bool decided() const noexcept { return claim_.state() > detail::claim_state::reserved; }
  // Decided and without a hold: the coroutine is ready. After a claim by a plain store this is true before the post.
  bool over() const noexcept { return decided() && !claim_.held(); }

  // For those who look at a wait under way, on the thread of its executor: the first source it waits for, and where it
  // was asked for. Null: there is none; or the wait is decided, though perhaps not over, and the source may be gone.
  // A source that deferred a grant is returned until the grant is posted.
  const wait_source* awaited() const noexcept;
  // Of its options; after commit() also of the coroutine's context.
  bool has_deadline() const noexcept {
    return detail::timer_node::when != time_point::max() || after() != duration::max();
  }
  // It has one source, and no deadline; or it is decided, and what is awaited() is all that is missing.
  bool ends_only_by_grant() const noexcept;
  std::source_location at() const noexcept { return detail::location_of(at_); }
  time_point deadline(time_point present) const noexcept {
    if (after() == duration::max()) return detail::timer_node::when;
    const time_point then = deadline_after(present, after());
    return then < detail::timer_node::when ? then : detail::timer_node::when;
  }

 private:
  friend class waiter;
  friend class grant;
  friend class grants;
  friend struct detail::wait_room;

  void expect_over() const noexcept;
  detail::min_stop_level min_level() const noexcept {
    return static_cast<detail::min_stop_level>(ignore_);
  }  // if it heeds any stop
  [[HOCKET_ALWAYS_INLINE]] inline void arm_in(const detail::thread_state& thread, context& ctx,
                                              std::coroutine_handle<> coroutine,
                                              const detail::wait_options& options) noexcept;
  const wait_source* first_source() const noexcept;
  [[HOCKET_ALWAYS_INLINE]] inline void begin_observed_wait() noexcept;
  coroutine_id observed_as() const noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] void notify_suspended() noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] bool notify_committed() noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] bool take_commit_back() noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] void notify_woken() noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] void notify_continued() const noexcept;
  [[HOCKET_ALWAYS_INLINE]] inline void watch() noexcept;
  [[HOCKET_NOINLINE]] void watch_clock() noexcept;
  [[HOCKET_ALWAYS_INLINE]] inline void watch_stop(stop_source& source) noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] bool continue_at_once(bool was_announced, const waiter* unlisted = nullptr) noexcept;
  [[HOCKET_ALWAYS_INLINE]] inline bool end_for(waiter& entry) noexcept;
  bool claim_for(waiter& entry) noexcept;
  [[HOCKET_COLD]] void drop_lost(waiter& entry) noexcept { conclude(detail::settlement::lost, &entry); }
  [[HOCKET_NOINLINE]] bool claim_beside_others(waiter& entry) noexcept;
  [[HOCKET_NOINLINE]] bool claim_beside_alarm(waiter& entry) noexcept;
  [[HOCKET_NOINLINE]] bool settle_for(waiter& entry) noexcept;
  [[HOCKET_NOINLINE]] bool settle_beside_alarm(waiter& entry, bool rings) noexcept;
  void won_for(waiter& entry, detail::settlement outcome) noexcept;
  void post_won() noexcept;
  [[HOCKET_NOINLINE]] void release_and_post() noexcept;
  void release_other_registrations() noexcept;
  std::uint32_t detach_others() noexcept;
  void post_deferred() noexcept;
  std::uint32_t detach_all(const void* except) noexcept;
  void conclude(detail::settlement outcome, const void* self) noexcept;
  [[HOCKET_ALWAYS_INLINE]] inline void post() noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] void post_observed() noexcept;
  static void on_stop(detail::stop_node& self, stop_level level) noexcept;
  static void on_alarm(detail::timer_node& self, detail::timer_call) noexcept;
  static bool alarm_may_leave(const detail::timer_node& self, const executor& home) noexcept;
  void prefetch_wakeup() const noexcept;
  static void alarm_prefetch(const detail::timer_node& self) noexcept;
  static const detail::timer_kind alarm_kind;

  detail::claim claim_;
  bool finished_ = true;
  stop_level ignore_;  // of the options
  // How the claim was won, and how many holds the grant drops. Unused if the claim ended by a plain store.
  detail::settlement won_;
  std::uint8_t granted_holds_;
  atomic<const wait_source*> deferred_by_{nullptr};  // the source that deferred the grant
  waiter* first_;   // the registrations, last first; written by the registrar while registering
  waiter* winner_;  // written by the winning waiter before it drops its hold
  context* ctx_;
  stop_source* stop_;              // where the stop node is attached; null if it is not
  detail::timer_service* timers_;  // where the alarm is attached; null if it is not
  call_site at_;                   // of the options
};

inline void waiter::join(suspension& wait, wait_source& source) noexcept {
  wait_ = &wait;
  source_ = &source;
  sibling_ = wait.first_;
  wait.first_ = this;
}

inline bool suspension::ends_only_by_grant() const noexcept {
  if (decided()) return true;
  return first_ && !first_->sibling_ && !has_deadline();
}

inline void waiter::enlist(suspension& wait, wait_source& source) noexcept {
  join(wait, source);
  wait.claim_.hold();
}

inline void waiter::enlist_or_stay(suspension& wait, wait_source& source) noexcept {
  if (wait.first_ != this) enlist(wait, source);
}

inline std::size_t waiter::granted_of(const waiter* first) noexcept {
  return static_cast<std::size_t>(first->wait_->winner_ - first);
}

inline bool waiter::decided() const noexcept { return wait_->decided(); }

inline grant waiter::claim() noexcept { return wait_->claim_for(*this) ? grant(*this) : grant(); }

inline grant waiter::claim_popped() noexcept {
  if (wait_->claim_for(*this)) [[likely]]
    return grant(*this);
  wait_->drop_lost(*this);
  return {};
}

inline grant waiter::deferred() noexcept { return grant(*this, true); }

inline void grant::post() noexcept {
  waiter* const entry = std::exchange(entry_, nullptr);
  if (!entry) return;
  if (is_deferred_) entry->wait_->post_deferred();
  else entry->wait_->post_won();
}

inline void grants::add(grant added) noexcept {
  waiter* const entry = std::exchange(added.entry_, nullptr);
  if (!entry) return;
  detail::debug_expects(!added.is_deferred_, "a grant was listed that had been deferred", "post it");
  suspension* const wait = entry->wait_;
  wait->next = nullptr;
  if (first_) last_->next = wait;
  else first_ = wait;
  last_ = wait;
}

inline grant grants::take_first() noexcept {
  suspension& wait = *first_;
  first_ = static_cast<suspension*>(wait.next);
  return grant(*wait.winner_);
}

inline waiter::~waiter() {
  if (!wait_) return;
  if constexpr (detail::debug_checks) wait_->expect_over();
  if (!wait_->finished_ && wait_->winner_ == this) [[unlikely]]
    source_->pass_on(*this);
}

}  // namespace primitive

}}  // namespace hocket
