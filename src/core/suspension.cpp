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

waiter::~waiter() {
  debug_expects(!wait_ || !wait_->claim_.held(), "a coroutine was destroyed while it waits",
                "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
  if (wait_ && !wait_->finished_ && wait_->winner_ == this) source_->pass_on(*this);
}

void waiter::enlist(suspension& wait, wait_source& source) noexcept {
  join(wait, source);
  wait.claim_.hold();
}

void waiter::join(suspension& wait, wait_source& source) noexcept {
  wait_ = &wait;
  source_ = &source;
  sibling_ = wait.first_;
  wait.first_ = this;
}

bool waiter::grant() noexcept {
  settlement how = wait_->claim_.settle(verdict::granted);
  settled(how);
  return how != settlement::lost;
}

bool waiter::grant_both(waiter& one, waiter& other) noexcept {
  auto [at_one, at_other] = claim::settle_both(one.wait_->claim_, other.wait_->claim_);
  if (at_one == settlement::lost) return false;
  one.settled(at_one);
  other.settled(at_other);
  return true;
}

void waiter::abandon() noexcept { wait_->conclude(settlement::lost, this); }

bool waiter::decided() const noexcept { return wait_->claim_.outcome() > verdict::reserved; }

void waiter::settled(settlement how) noexcept {
  if (how != settlement::lost) wait_->winner_ = this;
  wait_->conclude(how, this);
}

// --- suspension: the registrar's side

suspension::suspension() noexcept {
  stop_node::fire = &suspension::on_stop;
  timer_node::fire = &suspension::on_alarm;
}

suspension::~suspension() {
  debug_expects(!claim_.held(), "a coroutine was destroyed while it waits",
                "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
}

void suspension::arm(std::coroutine_handle<> handle, const wait_terms& terms) noexcept {
  thread_state& here = this_thread();
  expects(here.running_on != nullptr, "a coroutine waited outside of any executor",
          "start it with spawn, run or sync_wait, so that somebody can resume it");
  run_ = {nullptr, handle, here.running_on};
  ctx_ = here.ctx ? here.ctx : &context::root();
  if (scheduled* self = ctx_->strand(); self && terms.ignore != verdict::killed) self->expect_no_unwinding(terms.at);
  terms_ = terms;
  first_ = winner_ = nullptr;
  stop_ = nullptr;
  timers_ = nullptr;
  finished_ = false;
  timer_node::when = time_point::max();
  claim_.arm();
}

bool suspension::take_now(waiter& entry, wait_source& source) noexcept {
  if (claim_.settle(verdict::granted) == settlement::lost) return false;
  entry.join(*this, source);
  winner_ = &entry;
  return true;
}

void suspension::disarm() noexcept {
  finished_ = true;
  [[maybe_unused]] bool last = claim_.drop();
}

bool suspension::commit() noexcept {
  const bool observed = !decided();
  if (observed) {
    begin_observed_wait();
    watch();
    if (claim_.commit()) return true;
  }
  // Decided before the coroutine was suspended: it goes on, unless somebody still holds the wait, who then posts it.
  if (scheduled* self = ctx_->strand()) self->waits(*this);
  if (!claim_.drop(1 + release_all(nullptr))) return true;
  if (observer* watcher = observed ? installed_observer() : nullptr) [[unlikely]]
    tell_woken(*watcher);
  return false;
}

// What is shown of a coroutine that waits. From here on another thread may show it, too.
void suspension::begin_observed_wait() noexcept {
  if (scheduled* self = ctx_->strand()) self->waits(*this);
  if (observer* watcher = installed_observer()) [[unlikely]]
    tell_suspended(*watcher);
}

// Out of line: nothing of them is to be in the way of a wait that nobody observes (tests/counts).
void suspension::tell_suspended(observer& watcher) const noexcept { watcher.suspended(observed_as(), awaited()); }
void suspension::tell_woken(observer& watcher) const noexcept { watcher.woken(observed_as()); }

// Which coroutine an observer is told of: the scheduled one as a whole, whichever frame of it waits.
const void* suspension::observed_as() const noexcept {
  const void* whole = ctx_->coroutine();
  return whole ? whole : run_.handle.address();
}

const wait_source* suspension::awaited() const noexcept { return first_ ? first_->source_ : nullptr; }

void suspension::watch() noexcept {
  if (terms_.ignore >= verdict::killed) return;
  watch_clock();
  watch_stop();
}

void suspension::watch_clock() noexcept {
  time_point until = std::min(terms_.until, ctx_->deadline());
  if (until == time_point::max() && terms_.within == duration::max()) return;
  timer_service* timers = run_.home->timers();
  expects(timers != nullptr, "a wait has a deadline, but its executor has no timers",
          "run it on a loop, a runtime or a plain thread, or give the executor a timer_service");
  if (terms_.within != duration::max()) until = std::min(until, deadline_after(timers->now(), terms_.within));
  timer_node::when = until;
  if (until == time_point::max()) return;
  timers_ = timers;
  claim_.hold();
  timers_->attach(*this);
}

void suspension::watch_stop() noexcept {
  stop_source* source = ctx_->stop();
  if (!source) return;
  claim_.hold();
  stop_ = source;
  verdict requested = source->attach(*this, terms_.ignore);
  if (requested == verdict::idle) return;
  stop_ = nullptr;
  // The wait is not committed, so whatever the answer, commit() lets go of the rest.
  [[maybe_unused]] settlement how = claim_.settle(requested);
  [[maybe_unused]] bool last = claim_.drop();
}

verdict suspension::finish() noexcept {
  finished_ = true;
  this_thread().ctx = ctx_;
  if (scheduled* self = ctx_->strand()) self->runs_again();
  return claim_.outcome();
}

std::size_t suspension::granted_index() const noexcept {
  std::size_t later = 0;
  for (waiter* entry = winner_; entry && entry->sibling_; entry = entry->sibling_) ++later;
  return later;
}

// --- suspension: the side of whoever ends it

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

void suspension::post() noexcept {
  if (observer* watcher = installed_observer()) [[unlikely]]
    tell_woken(*watcher);
  hocket::post(run_);
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
