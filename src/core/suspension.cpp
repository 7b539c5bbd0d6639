#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/observer.hpp>
#include <hocket/core/scheduled.hpp>
#include <hocket/core/suspension.hpp>

#include <algorithm>

namespace hocket::inline HOCKET_ABI {

// --- waiter

bool waiter::grant_both(waiter& one, waiter& other) noexcept {
  auto [at_one, at_other] = claim::settle_both(one.wait_->claim_, other.wait_->claim_);
  if (at_one == settlement::lost) return false;
  one.settled(at_one);
  other.settled(at_other);
  return true;
}

settlement waiter::settle() noexcept { return wait_->claim_.settle(verdict::granted); }

void waiter::grant_or_pass_on() noexcept {
  const settlement how = settle();
  if (how == settlement::lost) source_->pass_on(*this);
  settled(how);
}

bool waiter::begin_grant() noexcept {
  const bool won = claim_grant();
  if (won) adopted_by(*source_);
  else abandon();
  return won;
}

bool waiter::claim_grant() noexcept {
  const settlement how = wait_->claim_.settle(verdict::granted);
  if (how == settlement::lost) return false;
  wait_->winner_ = this;
  const std::uint32_t freed = how == settlement::won ? wait_->release_all(this) : 0;
  [[maybe_unused]] const bool last = freed != 0 && wait_->claim_.drop(freed);  // never: this hold is left
  return true;
}

void waiter::adopted_by(const wait_source& source) noexcept {
  // ORDER: relaxed, pairs with the load in awaited(): a mark for those who look; the source outlives the wait.
  wait_->finisher_.store(&source, std::memory_order_relaxed);
}

void waiter::finish_grant() noexcept {
  // ORDER: relaxed, pairs with the load in awaited(), as above.
  wait_->finisher_.store(nullptr, std::memory_order_relaxed);
  abandon();
}

// The last hold of this registration goes, and decides nothing.
void waiter::abandon() noexcept { wait_->conclude(settlement::lost, this); }

bool waiter::decided() const noexcept { return wait_->claim_.outcome() > verdict::reserved; }

void waiter::settled(settlement how) noexcept {
  if (how != settlement::lost) wait_->winner_ = this;
  wait_->conclude(how, this);
}

// --- suspension: the registrar's side

void suspension::expect_over() const noexcept {
  debug_expects(!claim_.held(), "a coroutine was destroyed while it waits",
                "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
}

void suspension::arm(std::coroutine_handle<> handle, const wait_terms& terms) noexcept {
  thread_state& here = this_thread();
  expects(here.seat.running_on != nullptr, "a coroutine waited outside of any executor",
          "start it with spawn, run or sync_wait, so that somebody can resume it");
  if (handle) expect_no_lock(here, terms.at);
  context* const ctx = here.ctx;
  ctx_ = ctx ? ctx : &context::root();
  scheduled* const self = ctx_->strand();
  if (self && terms.ignore != verdict::killed) self->expect_no_unwinding(terms.at);
  claim_.arm();
  finished_ = false;
  ignore_ = terms.ignore;
  run_ = {nullptr, handle, here.seat.pool && self && self->roams() ? here.seat.pool : here.seat.running_on};
  first_ = winner_ = nullptr;
  stop_ = nullptr;
  timers_ = nullptr;
  timer_node::when = terms.until;
  set_after(terms.within);
  at_ = terms.at;
  stop_node::fire = &suspension::on_stop;
}

bool suspension::take_now(waiter& entry, wait_source& source) noexcept {
  if (claim_.settle(verdict::granted) == settlement::lost) return false;
  entry.join(*this, source);
  winner_ = &entry;
  return true;
}

// Without a registration nobody else knows the claim, so this one cannot be decided by others.
bool suspension::take_now_with(waiter& entry, wait_source& source, waiter& other, settlement& how) noexcept {
  if (!first_) {
    how = other.settle();
    return how != settlement::lost && take_now(entry, source);
  }
  how = claim::settle_both(claim_, other.wait_->claim_).other;
  if (how == settlement::lost) return false;
  entry.join(*this, source);
  winner_ = &entry;
  return true;
}

bool suspension::stopped_before() const noexcept {
  const stop_source* source = ignore_ < verdict::killed ? ctx_->stop() : nullptr;
  return source && source->requested() > ignore_;
}

void suspension::disarm() noexcept {
  finished_ = true;
  claim_.disarm();
}

// What is shown of a coroutine that waits. From here on another thread may show it, too.
void suspension::begin_observed_wait() noexcept {
  if (scheduled* self = ctx_->strand()) self->waits(*this);
  if (observer* watcher = installed_observer()) [[unlikely]]
    tell_suspended(*watcher);
}

// Out of line: nothing of them is to be in the way of a wait that nobody observes (tests/counts).
void suspension::tell_suspended(observer& watcher) const noexcept { watcher.suspended(observed_as(), first_source()); }
void suspension::tell_woken(observer& watcher) const noexcept { watcher.woken(observed_as()); }

// Which coroutine an observer is told of: the scheduled one as a whole, whichever frame of it waits.
const void* suspension::observed_as() const noexcept {
  const void* whole = ctx_->coroutine();
  return whole ? whole : run_.handle.address();
}

const wait_source* suspension::first_source() const noexcept { return first_ ? first_->source_ : nullptr; }

const wait_source* suspension::awaited() const noexcept {
  // ORDER: relaxed, pairs with the stores in adopted_by() and finish_grant(): a mark.
  return decided() ? finisher_.load(std::memory_order_relaxed) : first_source();
}

void suspension::watch() noexcept {
  if (ignore_ >= verdict::killed) {
    timer_node::when = time_point::max();
    set_after(duration::max());
    return;
  }
  timer_node::when = std::min(timer_node::when, ctx_->deadline());
  if (timer_node::when != time_point::max() || is_set_after()) watch_clock();
  if (stop_source* source = ctx_->stop()) watch_stop(*source);
}

void suspension::watch_clock() noexcept {
  timer_service* timers = run_.home->timers();
  expects(timers != nullptr, "a wait has a deadline, but its executor has no timers",
          "run it on a loop, a runtime or a plain thread, or give the executor a timer_service");
  timer_node::fire = &suspension::on_alarm;
  timers_ = timers;
  claim_.hold();
  if (is_set_after()) timers_->attach_after(*this);
  else timers_->attach(*this);
}

void suspension::watch_stop(stop_source& source) noexcept {
  claim_.hold();
  stop_ = &source;
  verdict requested = source.attach(*this, ignore_);
  if (requested == verdict::idle) [[likely]]
    return;
  stop_ = nullptr;
  // The wait is not committed, so whatever the answer, commit() lets go of the rest.
  [[maybe_unused]] settlement how = claim_.settle(requested);
  [[maybe_unused]] bool last = claim_.drop();
}

bool suspension::commit() noexcept {
  const bool observed = !decided();
  if (observed) [[likely]] {
    begin_observed_wait();
    watch();
  }
  return claim_.commit() || go_straight_on(observed);
}

// Decided before the coroutine was suspended: it goes on, unless somebody still holds the wait, who then posts it.
bool suspension::go_straight_on(bool observed) noexcept {
  if (scheduled* self = ctx_->strand()) self->waits(*this);
  if (!claim_.drop(1 + release_all(nullptr))) return true;
  if (observer* watcher = observed ? installed_observer() : nullptr) [[unlikely]]
    tell_woken(*watcher);
  return false;
}

verdict suspension::finish() noexcept {
  finished_ = true;
  this_thread().ctx = ctx_;
  if (scheduled* self = ctx_->strand()) self->runs_again();
  return claim_.outcome();
}

// --- suspension: the side of whoever ends it

void suspension::post() noexcept {
  if (observer* watcher = installed_observer()) [[unlikely]]
    tell_woken(*watcher);
  hocket::post(run_);
}

// The usual wait has one waiter, perhaps a stop and an alarm. If those two can be taken back, nobody else has the
// claim. In this order, because an alarm may be detached once only: whoever wins by a stop that was popped detaches it.
// On another thread than its own an alarm is taken back after the claim is decided: it rings then, early perhaps, to
// drop its hold. Where that is, the timers know: a coroutine that roams has its pool for its home.
bool suspension::grant(waiter& entry) noexcept {
  const std::uint32_t holds = claim_.holds();
  if (holds == 0 || holds != 1u + (stop_ != nullptr) + (timers_ != nullptr)) return settle_grant(entry);
  if (stop_ && !stop_->detach(*this)) return settle_grant(entry);
  if (timers_) {
    const bool at_home = current_executor() == run_.home || timers_->fire_here();
    if (!at_home || !timers_->detach(*this)) return settle_beside_alarm(entry, holds - 1, !at_home);
  }
  winner_ = &entry;
  claim_.end(verdict::granted);
  post();
  return true;
}

bool suspension::settle_grant(waiter& entry) noexcept {
  const settlement how = claim_.settle(verdict::granted);
  entry.settled(how);
  return how != settlement::lost;
}

// By a waiter that has all the holds but that of the alarm, which rings, is ringing or has rung, or is `attached`
// still.
bool suspension::settle_beside_alarm(waiter& entry, std::uint32_t holds, bool attached) noexcept {
  const settlement how = claim_.settle(verdict::granted);
  if (how != settlement::lost) {
    winner_ = &entry;
    if (attached && timers_->detach(*this)) ++holds;
  }
  if (claim_.drop(holds)) post();
  return how != settlement::lost;
}

// Takes every registration but `except` back. Returns how many holds that frees: a registration that cannot be taken
// back has been popped by its source, which drops the hold itself.
std::uint32_t suspension::release_all(const void* except) noexcept {
  std::uint32_t freed = 0;
  for (waiter* entry = first_; entry;) {
    waiter* next = entry->sibling_;
    if (entry != except && entry->source_->detach(*entry)) ++freed;
    entry = next;
  }
  stop_node* stopper = this;
  timer_node* alarm = this;
  if (stop_ && stopper != except && stop_->detach(*stopper)) ++freed;
  if (timers_ && alarm != except && timers_->detach(*alarm)) ++freed;
  return freed;
}

// A source that popped the registration `self` is done with it.
void suspension::conclude(settlement how, const void* self) noexcept {
  std::uint32_t holds = 1 + (how == settlement::won ? release_all(self) : 0);
  if (claim_.drop(holds)) post();
}

void suspension::on_stop(stop_node& self, verdict strength) noexcept {
  auto& wait = static_cast<suspension&>(self);
  wait.conclude(wait.claim_.settle(strength), &self);
}

void suspension::on_alarm(timer_node& self) noexcept {
  auto& wait = static_cast<suspension&>(self);
  wait.conclude(wait.claim_.settle(verdict::timed_out), &self);
}

}  // namespace hocket::inline HOCKET_ABI
