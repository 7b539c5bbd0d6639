#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/wait/seam/observed.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/core/wait/seam/suspension.hpp>
#include <hocket/core/wait/seam/wait_room.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail { namespace {

context& own_context(const thread_state& thread) noexcept { return thread.ctx ? *thread.ctx : context::root(); }

[[HOCKET_COLD, HOCKET_NOINLINE]] void* allocate_room() noexcept try {
  return allocate_frame(sizeof(wait_room));
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

}  // namespace detail

namespace primitive {

// --- grant

waiter& grant::defer(const wait_source& source) noexcept {
  waiter& entry = *std::exchange(entry_, nullptr);
  suspension& wait = *entry.wait_;
  if (!is_deferred_) wait.release_other_registrations();
  // ORDER: relaxed, pairs with the load in awaited(): a mark for dumps; the source outlives the wait.
  wait.deferred_by_.store(&source, std::memory_order_relaxed);
  return entry;
}

void grant::dropped() noexcept {
  expects(false, "a grant was dropped", "post() it, outside of the lock of the source, whatever the coroutine finds");
  __builtin_unreachable();
}

void grants::add(grants&& more) noexcept {
  suspension* const first = std::exchange(more.first_, nullptr);
  if (!first) return;
  if (first_) last_->next = first;
  else first_ = first;
  last_ = more.last_;
}

// A posted wait may be destroyed at once.
void grants::post_all() noexcept {
  while (first_) take_first().post();
}

// --- suspension: the registrar's side

void suspension::expect_over() const noexcept {
  debug_expects(!claim_.held(), "a coroutine was destroyed while it waits",
                "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
}

void suspension::arm(std::coroutine_handle<> coroutine, const wait_options& options) noexcept {
  const thread_state& thread = this_thread();
  arm_in(thread, own_context(thread), coroutine, options);
}
void suspension::arm(std::coroutine_handle<> coroutine, no_options options) noexcept {
  const thread_state& thread = this_thread();
  arm_in(thread, own_context(thread), coroutine, options);
}

void suspension::arm_in(const thread_state& thread, context& ctx, std::coroutine_handle<> coroutine,
                        const wait_options& options) noexcept {
  expects(thread.binding.running_on != nullptr, "a coroutine waited outside of any executor",
          "start it with spawn, run or sync_wait, which give it an executor");
  if (coroutine) expect_no_lock(thread, options.at);
  ctx_ = &ctx;
  strand_state* const self = ctx.strand();
  if (self && options.ignore != stop_level::kill) self->expect_no_unwinding(location_of(options.at));
  claim_.arm();
  finished_ = false;
  ignore_ = options.ignore;
  next = nullptr;
  handle = coroutine;
  home = thread.binding.pool && self && self->migrates() ? thread.binding.pool : thread.binding.running_on;
  first_ = winner_ = nullptr;
  stop_ = nullptr;
  timers_ = nullptr;
  timer_node::when = options.until;
  set_after(options.within);
  at_ = options.at;
  stop_node::fire = &suspension::on_stop;
}

bool suspension::take_now(waiter& entry, wait_source& source) noexcept {
  if (claim_.settle(wait_end::granted) == settlement::lost) return false;
  if (first_ != &entry) entry.join(*this, source);
  winner_ = &entry;
  return true;
}

// Without a registration no other party knows this claim, so only the other one must be claimed.
grant suspension::meet(waiter& entry, wait_source& source, waiter& other) noexcept {
  if (!first_) {
    grant met = other.claim();
    [[maybe_unused]] const bool taken = met && take_now(entry, source);
    return met;
  }
  const settlement outcome = claim::settle_both(claim_, other.wait_->claim_).second;
  if (outcome == settlement::lost) return {};
  if (first_ != &entry) entry.join(*this, source);
  winner_ = &entry;
  other.wait_->won_for(other, outcome);
  return grant(other);
}

bool suspension::stopped_before() const noexcept {
  const stop_source* source = ignore_ < stop_level::kill ? ctx_->stop() : nullptr;
  return source && source->requested() > ignore_;
}

// Publishes the wait for dumps. From now on a dump by another thread may show it.
void suspension::begin_observed_wait() noexcept {
  if (strand_state* self = ctx_->strand()) self->waits(*this);
  if (observed()) [[unlikely]]
    notify_suspended();
}

void suspension::watch() noexcept {
  if (ignore_ >= stop_level::kill) {
    timer_node::when = time_point::max();
    set_after(duration::max());
    return;
  }
  timer_node::when = std::min(timer_node::when, ctx_->deadline());
  if (timer_node::when != time_point::max() || is_set_after()) watch_clock();
  if (stop_source* source = ctx_->stop()) watch_stop(*source);
}

void suspension::watch_clock() noexcept {
  timer_service* timers = home->timers();
  expects(timers != nullptr, "a wait has a deadline, but its executor has no timers",
          "run it on a loop, a runtime or a plain thread, or give the executor a timer_service");
  timer_node::kind = &alarm_kind;
  timers_ = timers;
  claim_.hold();
  if (is_set_after()) timers_->attach_after(*this);
  else timers_->attach(*this);
}

void suspension::watch_stop(stop_source& source) noexcept {
  claim_.hold();
  stop_ = &source;
  const stop_level requested = source.attach(*this, min_level());
  if (requested == stop_level::none) [[likely]]
    return;
  stop_ = nullptr;
  // The wait is not committed, so commit() releases the rest in either case.
  [[maybe_unused]] settlement outcome = claim_.settle(end_of(requested));
  [[maybe_unused]] bool last = claim_.drop();
}

bool suspension::commit() noexcept {
  if (decided()) [[unlikely]]
    return claim_.commit() || continue_at_once(false);
  begin_observed_wait();
  watch();
  return claim_.commit() || continue_at_once(true);
}

bool suspension::commit_first(waiter& entry, wait_source& source) noexcept {
  stop_source* const stop = ctx_->stop();
  const bool has_deadline =
      timer_node::when != time_point::max() || is_set_after() || ctx_->deadline() != time_point::max();
  if (has_deadline || ignore_ >= stop_level::kill || (stop && stop->may_be_requested())) return false;
  entry.join(*this, source);
  claim_.commit_first(1u + (stop != nullptr));
  if (strand_state* self = ctx_->strand()) self->waits(*this);
  stop_ = stop;
  if (stop) {
    if (stop->attach(*this, min_level()) != stop_level::none) [[unlikely]]
      return take_commit_back();
  }
  if (observed()) [[unlikely]]
    return notify_committed();
  return true;
}

// A stop was requested meanwhile. No other party knows the wait yet, so commit() may begin again, and finds the stop.
bool suspension::take_commit_back() noexcept {
  stop_ = nullptr;
  std::exchange(first_, nullptr)->wait_ = nullptr;
  claim_.arm_again();
  return false;
}

// The wait was decided before the coroutine was suspended. The coroutine continues, unless another party still holds
// the wait; then that party posts it.
bool suspension::continue_at_once(bool was_announced, const waiter* unlisted) noexcept {
  if (strand_state* self = ctx_->strand()) self->waits(*this);
  if (!claim_.drop(1 + detach_all(unlisted))) return true;
  if (was_announced && observed()) [[unlikely]]
    notify_continued();
  return false;
}

wait_end suspension::finish() noexcept {
  finished_ = true;
  this_thread().ctx = ctx_;
  if (strand_state* self = ctx_->strand()) self->runs_again();
  return static_cast<wait_end>(claim_.state());
}

}  // namespace primitive

namespace detail {

// --- wait_room

template <class Options>
[[HOCKET_ALWAYS_INLINE]] inline wait_room* wait_room::open_as(std::coroutine_handle<> coroutine,
                                                              const Options& options) noexcept {
  const thread_state& thread = this_thread();
  context& ctx = own_context(thread);
  strand_state* const self = ctx.strand();
  void* memory = self ? self->take_room() : nullptr;
  if (!memory) [[unlikely]] {
    memory = allocate_room();
    if (!memory) return nullptr;
  }
  auto* const room = ::new (memory) wait_room;
  room->wait.arm_in(thread, ctx, coroutine, options);
  return room;
}
wait_room* wait_room::open(std::coroutine_handle<> coroutine, no_options options) noexcept {
  return open_as(coroutine, options);
}
wait_room* wait_room::open(std::coroutine_handle<> coroutine, const wait_options& options) noexcept {
  return open_as(coroutine, options);
}

}  // namespace detail

namespace primitive {

// --- suspension: the side of the party that ends it

void suspension::post() noexcept {
  if (observed()) [[unlikely]]
    return post_observed();
  hocket::detail::post(*this);
}

void suspension::post_observed() noexcept {
  notify_woken();
  hocket::detail::post(*this);
}

// The caller owns every hold.
bool suspension::end_for(waiter& entry) noexcept {
  winner_ = &entry;
  claim_.end(wait_end::granted);
  return true;
}

// Most waits have one waiter, a stop and perhaps an alarm. If the claim detaches both, no other party has a hold. The
// stop comes first: an alarm may be detached only once, and a stop that has fired and wins detaches the alarm itself.
// On a thread that is not the alarm's, the alarm is detached after the claim is decided, because it fires on detach.
// The timers know their thread: a coroutine that migrates has its pool for its home.
bool suspension::claim_for(waiter& entry) noexcept {
  const std::uint32_t holds = claim_.holds();
  if (holds == 0 || holds != 1u + (stop_ != nullptr) + (timers_ != nullptr)) return settle_for(entry);
  if (stop_ && !stop_->detach_from_slot(*this)) return claim_beside_others(entry);
  if (timers_) return claim_beside_alarm(entry);
  return end_for(entry);
}

bool suspension::claim_beside_others(waiter& entry) noexcept {
  if (!stop_->detach(*this)) return settle_for(entry);
  if (timers_) return claim_beside_alarm(entry);
  return end_for(entry);
}

// The caller owns every hold but the alarm's.
bool suspension::claim_beside_alarm(waiter& entry) noexcept {
  const bool at_home = current_executor() == home || timers_->fire_here();
  if (!at_home || !timers_->detach(*this)) return settle_beside_alarm(entry, at_home);
  return end_for(entry);
}

bool suspension::settle_for(waiter& entry) noexcept {
  const settlement outcome = claim_.settle(wait_end::granted);
  if (outcome != settlement::lost) won_for(entry, outcome);
  return outcome != settlement::lost;
}

// The caller owns every hold but the alarm's. The alarm fires or has fired (`rings`), or is still attached. If the
// claim is lost, the hold of a detached stop is dropped here. The hold of the waiter remains, so this is never the last
// hold.
bool suspension::settle_beside_alarm(waiter& entry, bool rings) noexcept {
  const settlement outcome = claim_.settle(wait_end::granted);
  if (outcome == settlement::lost) {
    [[maybe_unused]] const bool last = stop_ && claim_.drop();
    return false;
  }
  won_for(entry, outcome);
  if (std::exchange(stop_, nullptr)) ++granted_holds_;
  if (rings) timers_ = nullptr;
  return true;
}

void suspension::won_for(waiter& entry, settlement outcome) noexcept {
  winner_ = &entry;
  won_ = outcome;
  granted_holds_ = 1;
}

// After a claim by a plain store there is no hold.
void suspension::post_won() noexcept {
  if (claim_.held()) return release_and_post();
  post();
}

// If the wait was claimed early, its registrar does this.
std::uint32_t suspension::detach_others() noexcept { return won_ == settlement::won ? detach_all(winner_) : 0; }

void suspension::release_and_post() noexcept {
  if (claim_.drop(granted_holds_ + detach_others())) post();
}

// Drops all holds of the grant but one.
void suspension::release_other_registrations() noexcept {
  if (!claim_.held()) return claim_.hold_again(wait_end::granted);
  const std::uint32_t holds = granted_holds_ - 1u + detach_others();
  [[maybe_unused]] const bool last = holds != 0 && claim_.drop(holds);
}

// Drops the last hold of the grant.
void suspension::post_deferred() noexcept {
  // ORDER: relaxed, pairs with the load in awaited(): see defer().
  deferred_by_.store(nullptr, std::memory_order_relaxed);
  conclude(settlement::lost, nullptr);
}

// Detaches every registration but `except`. Returns the number of freed holds. If a registration cannot be detached,
// its source has popped it, and drops the hold itself.
std::uint32_t suspension::detach_all(const void* except) noexcept {
  std::uint32_t freed = 0;
  for (waiter* entry = first_; entry;) {
    waiter* const other = entry->sibling_;
    if (entry != except && entry->source_->detach(*entry)) ++freed;
    entry = other;
  }
  stop_node* stopper = this;
  timer_node* alarm = this;
  if (stop_ && stopper != except && stop_->detach(*stopper)) ++freed;
  if (timers_ && alarm != except && timers_->detach(*alarm)) ++freed;
  return freed;
}

// Called by a source that has popped the registration `self`, as its last step.
void suspension::conclude(settlement outcome, const void* self) noexcept {
  std::uint32_t holds = 1 + (outcome == settlement::won ? detach_all(self) : 0);
  if (claim_.drop(holds)) post();
}

void suspension::on_stop(stop_node& self, stop_level level) noexcept {
  auto& wait = static_cast<suspension&>(self);
  wait.conclude(wait.claim_.settle(end_of(level)), &self);
}

// A coroutine that stays on its thread may wait at an unsync primitive.
bool suspension::alarm_may_leave(const timer_node& self, const executor& home) noexcept {
  return static_cast<const suspension&>(self).home != &home;
}

bool waiter::resumes_on(const executor& executor) const noexcept { return wait_->home == &executor; }

constinit const timer_kind suspension::alarm_kind{&suspension::on_alarm, &suspension::alarm_may_leave,
                                                  &suspension::alarm_prefetch};

// A node is returned after the wait is decided.
void suspension::on_alarm(timer_node& self, timer_call why) noexcept {
  auto& wait = static_cast<suspension&>(self);
  const bool rings = why == timer_call::due;
  wait.conclude(rings ? wait.claim_.settle(wait_end::timed_out) : settlement::lost, &self);
}

}  // namespace primitive

}}  // namespace hocket
