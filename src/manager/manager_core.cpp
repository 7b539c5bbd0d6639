#include "manager/manager_core.hpp"

#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

std::error_code unknown() noexcept { return std::make_error_code(std::errc::no_such_process); }
std::error_code canceled() noexcept { return make_error_code(errc::cancelled); }

}  // namespace

void retain(manager_core& core) noexcept { core.hold(); }
void release(manager_core& core) noexcept { core.let_go(); }

time_point manager_core::home_clock::now() const noexcept {
  const timer_service* timers = of.timers();
  expects(timers != nullptr, "a task_manager was asked for the time, or a deadline, of an executor without timers",
          "make it with {.clock = &clock}, or for a loop or a runtime");
  return timers->now();
}

manager_core::manager_core(spawn_target& on, const manager_options& options, std::source_location at)
    : home_(on.home()),
      on_(on),
      time_(options.clock ? *options.clock : home_clock_),
      limit_(std::min(options.limit, life_count::most_live)),
      unhandled_(options.on_unhandled ? options.on_unhandled : on.on_unhandled()),
      context_(context::child_of(on.parent_context(), {options.name, &stop_}, at)) {
  for (std::size_t i = 0; i < std::size(shards_); ++i) {
    shards_[i].manager = this;
    shards_[i].time = &time_;
    shards_[i].index = static_cast<std::uint32_t>(i);
  }
}

// --- the count

void manager_core::leave() noexcept {
  if (!lives_.leave()) return;
  none_left();
  let_go();
}

void manager_core::let_go() noexcept {
  if (lives_.let_go()) delete this;
}

// By a holder: nothing is live, or no daemon.
void manager_core::none_left() noexcept {
  if (keeps_time()) keeper_.rest();
  cancel_daemons_of_join();
  for (;;) {
    grant joiner;
    {
      locked guard(joining_);
      if (is_empty()) joiner = joiners_.claim_first();
      if (!joiner) return;
    }
    joiner.post();
  }
}

// --- daemons

daemon_group& manager_core::daemons() {
  daemon_group& group = daemon_group_.get_or_make(children_, &on_);
  if (daemons_.size() == 0) group.renew();
  return group;
}

void manager_core::enter_daemons(std::size_t count) noexcept {
  daemons_.enter(count);
  lives_.hold_daemons(count);
  cancel_daemons_of_join();
}

void manager_core::leave_daemon() noexcept {
  daemons_.leave();
  if (is_empty()) none_left();
  let_go();
}

void manager_core::leave_as(bool daemon) noexcept {
  if (daemon) leave_daemon();
  else leave();
}

// By a holder.
void manager_core::cancel_daemons_of_join() noexcept {
  if (!daemon_group_.get()) return;
  bool is_joined = false;
  {
    locked guard(joining_);
    is_joined = !joiners_.empty() && live() == 0;
  }
  if (is_joined) daemon_group_.cancel();
}

// --- places

// Threads of the system are far apart, and so are their states. Under the model all threads share one table: addresses
// differ from run to run, and the checker repeats executions.
shard& manager_core::shard_here() noexcept {
  if constexpr (under_model) return shards_[0];
  const auto thread = reinterpret_cast<std::uintptr_t>(&this_thread());
  return shards_[(thread * 0x9e37'79b9'7f4a'7c15u) >> (64 - shard::shard_bits)];
}

// Null: it is at its limit, or closed.
managed_entry* manager_core::open(const entry_options& options, std::error_code& why) {
  if (options.daemon) static_cast<void>(daemons()), enter_daemons(1);
  else if (!lives_.admit(limit_)) return refuse_place(make_error_code(at_limit_.error), why);
  // ORDER: relaxed, pairs with the store in close(): a spawn beside it comes before it, or after.
  if (!closed_.load(std::memory_order_relaxed)) return &open_admitted(options);
  leave_as(options.daemon);
  return refuse_place(canceled(), why);
}

managed_entry* manager_core::refuse_place(std::error_code why, std::error_code& reason) noexcept {
  // ORDER: relaxed, pairs with nothing: a statistic.
  refused_.fetch_add(1, std::memory_order_relaxed);
  reason = why;
  return nullptr;
}

managed_entry& manager_core::open_admitted(const entry_options& options) {
  managed_entry* entry = nullptr;
  try {
    const time_point deadline = deadline_of(options);
    entry = &shard_here().take_place(options, deadline);
    if (options.group.value != 0) groups_.join(*entry);
    if (deadline != time_point::max() && keeps_time()) keeper_.want(deadline);
    return *entry;
  } catch (...) {
    if (entry) close_place(*entry);
    else leave_as(options.daemon);
    throw;
  }
}

time_point manager_core::deadline_of(const entry_options& options) const noexcept {
  if (keeps_time()) return deadline_on(home_, options.within, options.name.c_str(), options.at);
  return options.within == duration::max() ? time_point::max() : deadline_after(time_.now(), options.within);
}

// Under the lock: its use ends. True: it is to leave its group first.
bool manager_core::end_use(managed_entry& entry) noexcept {
  table_of(entry).retire(entry);
  if (entry.in) return true;
  table_of(entry).free(entry);
  return false;
}

void manager_core::leave_group(managed_entry& entry) noexcept {
  groups_.leave(entry);
  locked guard(entry.table.mutex);
  table_of(entry).free(entry);
}

void manager_core::close_place(managed_entry& entry) noexcept {
  const bool is_daemon = entry.is_daemon;
  bool grouped = false;
  {
    locked guard(entry.table.mutex);
    grouped = end_use(entry);
  }
  if (grouped) leave_group(entry);
  leave_as(is_daemon);
}

spawn_target& manager_core::refusing(std::error_code why) noexcept {
  return why == make_error_code(at_limit_.error) ? at_limit_ : closed_target_;
}

// --- the end of a coroutine

void manager_core::refuse(managed_entry& entry) noexcept {
  // ORDER: relaxed, pairs with nothing: a statistic.
  refused_.fetch_add(1, std::memory_order_relaxed);
  conclude(entry);
}

void manager_core::end(managed_entry& entry) noexcept {
  spawn_target& on = target_below(entry.is_daemon);
  conclude(entry);
  on.leave();
}

// Whether it ran or not. The inside may be gone afterwards.
void manager_core::conclude(managed_entry& entry) noexcept {
  scheduled* const coroutine = entry.coroutine;
  const bool is_daemon = entry.is_daemon;
  grants told;
  bool grouped = false;
  {
    locked guard(entry.table.mutex);
    const outcome_kind how = entry.how_it_ended();
    table_of(entry).count_end(how);
    entry.claim_waiting(how, told);
    grouped = end_use(entry);
  }
  if (grouped) leave_group(entry);
  told.post();
  coroutine->release();
  leave_as(is_daemon);
}

// --- by id

std::error_code manager_core::stop(task_id id, stop_level level) noexcept {
  scheduled* who = nullptr;
  shard& table = shard_of(id);
  {
    locked guard(table.mutex);
    managed_entry* entry = table.find(id);
    if (!entry) return unknown();
    if (entry->state == entry_state::coroutine) {
      entry->asked = std::max(entry->asked, level == stop_level::kill ? outcome_kind::killed : outcome_kind::cancelled);
      who = entry->coroutine;
      who->retain();
    }
  }
  if (!who) return fail(id, canceled(), &manager_counts::abandoned);
  who->request(level);
  who->release();
  return {};
}

std::error_code manager_core::fail(task_id id, std::error_code why, std::size_t manager_counts::* how) noexcept {
  const promise_kind* kind = nullptr;
  std::error_code not_there;
  if (void* promise = take(id, kind, not_there, how)) kind->fail(promise, why);
  return not_there;
}

std::error_code manager_core::set_deadline(task_id id, time_point when) {
  shard& table = shard_of(id);
  {
    locked guard(table.mutex);
    managed_entry* entry = table.find(id);
    if (!entry) return unknown();
    if (entry->asked == outcome_kind::timed_out) return make_error_code(errc::deadline_exceeded);
    table.set_deadline(*entry, when);
  }
  if (when != time_point::max() && keeps_time()) keeper_.want(when);
  return {};
}

void* manager_core::take(task_id id, const promise_kind*& kind, std::error_code& why,
                         std::size_t manager_counts::* how) noexcept {
  managed_entry* entry = nullptr;
  void* promise = nullptr;
  bool grouped = false;
  shard& table = shard_of(id);
  {
    locked guard(table.mutex);
    entry = table.find(id);
    if (!entry) {
      if (how == &manager_counts::completed) ++table.counts.late;
      why = unknown();
      return nullptr;
    }
    if (entry->state != entry_state::reply || (kind && entry->kind != kind)) {
      why = std::make_error_code(std::errc::invalid_argument);
      return nullptr;
    }
    kind = entry->kind;
    promise = entry->promise;
    ++(table.counts.*how);
    grouped = end_use(*entry);
  }
  if (grouped) leave_group(*entry);
  leave();
  return promise;
}

void manager_core::begin_wait(task_id id, suspension& wait, waiter& entry, std::errc& failed) noexcept {
  shard& table = shard_of(id);
  locked guard(table.mutex);
  managed_entry* of = table.find(id);
  if (!of) failed = std::errc::no_such_process;
  else if (of->state != entry_state::coroutine) failed = std::errc::invalid_argument;
  else if (of->coroutine == current_context().coroutine()) failed = std::errc::resource_deadlock_would_occur;
  else return of->wait_for_end(wait, entry);
  [[maybe_unused]] const bool taken = wait.take_now(entry, *this);
}

// --- joining

// Holds the inside: the wait may be over, and have let it go, once it is enlisted.
void manager_core::begin_join(suspension& wait, waiter& entry) noexcept {
  hold();
  {
    locked guard(joining_);
    if (!is_empty()) joiners_.enlist(wait, *this, entry);
    else [[maybe_unused]] const bool taken = wait.take_now(entry, *this);
  }
  cancel_daemons_of_join();
  let_go();
}

// The running code is, or is below, one of its coroutines.
bool manager_core::runs_here() const noexcept {
  for (const context* at = &current_context(); at; at = at->parent())
    if (at == context_.get()) return true;
  return false;
}

task_id manager_core::current() const noexcept {
  const scheduled* self = scheduled_of(current_context().coroutine());
  return self && &self->target().for_children() == &children_ ? task_id(self->target().coroutine_id()) : task_id::none;
}

bool manager_core::detach(waiter& entry) noexcept {
  locked guard(joining_);
  return joiners_.take_out(entry);
}

// --- what its coroutines spawn

std::error_code manager_core::child_target::enroll(std::size_t count) noexcept {
  if (std::error_code refused = core.on_.enroll(count)) return refused;
  core.enter(count);
  return {};
}

std::error_code manager_core::child_target::enroll_children(std::size_t count) noexcept {
  if (std::error_code refused = core.on_.enroll_children(count)) return refused;
  core.enter(count);
  return {};
}

std::error_code manager_core::child_target::enroll_daemons(std::size_t count, bool are_children) noexcept {
  spawn_target& below = core.target_below(true);
  if (std::error_code refused = are_children ? below.enroll_children(count) : below.enroll(count)) return refused;
  core.enter_daemons(count);
  return {};
}

void manager_core::child_target::leave_daemon() noexcept {
  spawn_target& below = core.target_below(true);
  core.leave_daemon();
  below.leave();
}

void manager_core::child_target::leave() noexcept {
  spawn_target& on = core.on_;
  core.leave();
  on.leave();
}

}}}  // namespace hocket::detail
