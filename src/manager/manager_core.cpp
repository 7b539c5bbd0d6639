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

void retain(manager_core& core) noexcept { core.retain(); }
void release(manager_core& core) noexcept { core.release(); }

time_point manager_core::home_clock::now() const noexcept {
  const timer_service* timers = home_executor.timers();
  expects(timers != nullptr, "a task_manager was asked for the time, or a deadline, of an executor without timers",
          "make it with {.clock = &clock}, or for a loop or a runtime");
  return timers->now();
}

manager_core::manager_core(spawn_target& target, const manager_options& options, std::source_location location)
    : home_(target.home()),
      target_(target),
      time_(options.clock ? *options.clock : home_clock_),
      limit_(std::min(options.limit, life_count::max_live)),
      unhandled_(options.on_unhandled ? options.on_unhandled : target.on_unhandled()),
      context_(context::child_of(target.parent_context(), {options.name, &stop_}, location)) {
  for (std::size_t i = 0; i < std::size(shards_); ++i) {
    shards_[i].manager = this;
    shards_[i].time = &time_;
    shards_[i].index = static_cast<std::uint32_t>(i);
  }
}

// --- the count

void manager_core::leave() noexcept {
  if (!lives_.leave()) return;
  on_idle();
  release();
}

void manager_core::release() noexcept {
  if (lives_.release()) delete this;
}

// The caller is a holder. Nothing is live, or no daemon is left.
void manager_core::on_idle() noexcept {
  if (uses_executor_time()) deadline_timer_.disarm_if_idle();
  cancel_daemons_of_join();
  for (;;) {
    grant joiner;
    {
      locked guard(joiners_mutex_);
      if (is_empty()) joiner = joiners_.claim_first();
      if (!joiner) return;
    }
    joiner.post();
  }
}

// --- daemons

daemon_group& manager_core::daemons() {
  daemon_group& group = daemon_group_.get_or_make(children_, &target_);
  if (daemons_.size() == 0) group.renew();
  return group;
}

void manager_core::enter_daemons(std::size_t count) noexcept {
  daemons_.enter(count);
  lives_.retain_daemons(count);
  cancel_daemons_of_join();
}

void manager_core::leave_daemon() noexcept {
  daemons_.leave();
  if (is_empty()) on_idle();
  release();
}

void manager_core::leave_as(bool daemon) noexcept {
  if (daemon) leave_daemon();
  else leave();
}

// The caller is a holder.
void manager_core::cancel_daemons_of_join() noexcept {
  if (!daemon_group_.get()) return;
  bool is_joined = false;
  {
    locked guard(joiners_mutex_);
    is_joined = !joiners_.empty() && live() == 0;
  }
  if (is_joined) daemon_group_.cancel();
}

// --- places

// By the address of the thread's state: such addresses are far apart. Under the model checker all threads share one
// table, because addresses differ from run to run, and the checker repeats executions.
shard& manager_core::shard_of_thread() noexcept {
  if constexpr (under_model) return shards_[0];
  const auto thread = reinterpret_cast<std::uintptr_t>(&this_thread());
  return shards_[(thread * 0x9e37'79b9'7f4a'7c15u) >> (64 - shard::shard_bits)];
}

// Null: the manager is at its limit, or closed.
managed_entry* manager_core::open(const entry_options& options, std::error_code& error) {
  if (options.daemon) {
    static_cast<void>(daemons());
    enter_daemons(1);
  } else if (!lives_.admit(limit_)) {
    return refuse_place(make_error_code(at_limit_.error), error);
  }
  // ORDER: relaxed, pairs with the store in close(): a concurrent spawn is before or after close().
  if (!closed_.load(std::memory_order_relaxed)) return &open_admitted(options);
  leave_as(options.daemon);
  return refuse_place(canceled(), error);
}

managed_entry* manager_core::refuse_place(std::error_code error, std::error_code& reason) noexcept {
  // ORDER: relaxed, pairs with nothing: a statistic.
  refused_.fetch_add(1, std::memory_order_relaxed);
  reason = error;
  return nullptr;
}

managed_entry& manager_core::open_admitted(const entry_options& options) {
  managed_entry* entry = nullptr;
  try {
    const time_point deadline = deadline_of(options);
    entry = &shard_of_thread().take_place(options, deadline);
    if (options.group.value != 0) groups_.join(*entry);
    if (deadline != time_point::max() && uses_executor_time()) deadline_timer_.arm_by(deadline);
    return *entry;
  } catch (...) {
    if (entry) close_place(*entry);
    else leave_as(options.daemon);
    throw;
  }
}

time_point manager_core::deadline_of(const entry_options& options) const noexcept {
  if (uses_executor_time()) return deadline_on(home_, options.within, options.name.c_str(), options.location);
  return options.within == duration::max() ? time_point::max() : deadline_after(time_.now(), options.within);
}

// Under the lock: ends the use of the place. True: the caller then calls leave_group().
bool manager_core::end_use(managed_entry& entry) noexcept {
  table_of(entry).retire(entry);
  if (entry.joined_group) return true;
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
  bool is_grouped = false;
  {
    locked guard(entry.table.mutex);
    is_grouped = end_use(entry);
  }
  if (is_grouped) leave_group(entry);
  leave_as(is_daemon);
}

spawn_target& manager_core::refusing(std::error_code error) noexcept {
  return error == make_error_code(at_limit_.error) ? at_limit_ : closed_target_;
}

// --- the end of a coroutine

void manager_core::refuse(managed_entry& entry) noexcept {
  // ORDER: relaxed, pairs with nothing: a statistic.
  refused_.fetch_add(1, std::memory_order_relaxed);
  conclude(entry);
}

void manager_core::end(managed_entry& entry) noexcept {
  spawn_target& target = target_below(entry.is_daemon);
  conclude(entry);
  target.leave();
}

// Also for a coroutine that was not started. It may free manager_core.
void manager_core::conclude(managed_entry& entry) noexcept {
  scheduled* const coroutine = entry.coroutine;
  const bool is_daemon = entry.is_daemon;
  grants woken;
  bool is_grouped = false;
  {
    locked guard(entry.table.mutex);
    const outcome_kind ending = entry.ending();
    table_of(entry).count_end(ending);
    entry.claim_waiters(ending, woken);
    is_grouped = end_use(entry);
  }
  if (is_grouped) leave_group(entry);
  woken.post();
  coroutine->release();
  leave_as(is_daemon);
}

// --- by id

std::error_code manager_core::stop(task_id id, stop_level level) noexcept {
  scheduled* coroutine = nullptr;
  shard& table = shard_of(id);
  {
    locked guard(table.mutex);
    managed_entry* entry = table.find(id);
    if (!entry) return unknown();
    if (entry->state == entry_state::coroutine) {
      entry->stop_reason =
          std::max(entry->stop_reason, level == stop_level::kill ? outcome_kind::killed : outcome_kind::cancelled);
      coroutine = entry->coroutine;
      coroutine->retain();
    }
  }
  if (!coroutine) return fail(id, canceled(), &manager_counts::abandoned);
  coroutine->request(level);
  coroutine->release();
  return {};
}

std::error_code manager_core::fail(task_id id, std::error_code error, std::size_t manager_counts::* counter) noexcept {
  const promise_kind* kind = nullptr;
  std::error_code error_of_id;
  if (void* promise = take(id, kind, error_of_id, counter)) kind->fail(promise, error);
  return error_of_id;
}

std::error_code manager_core::set_deadline(task_id id, time_point when) {
  shard& table = shard_of(id);
  {
    locked guard(table.mutex);
    managed_entry* entry = table.find(id);
    if (!entry) return unknown();
    if (entry->stop_reason == outcome_kind::timed_out) return make_error_code(errc::deadline_exceeded);
    table.set_deadline(*entry, when);
  }
  if (when != time_point::max() && uses_executor_time()) deadline_timer_.arm_by(when);
  return {};
}

void* manager_core::take(task_id id, const promise_kind*& kind, std::error_code& error,
                         std::size_t manager_counts::* counter) noexcept {
  managed_entry* entry = nullptr;
  void* promise = nullptr;
  bool is_grouped = false;
  shard& table = shard_of(id);
  {
    locked guard(table.mutex);
    entry = table.find(id);
    if (!entry) {
      if (counter == &manager_counts::completed) ++table.counts.late;
      error = unknown();
      return nullptr;
    }
    if (entry->state != entry_state::reply || (kind && entry->kind != kind)) {
      error = std::make_error_code(std::errc::invalid_argument);
      return nullptr;
    }
    kind = entry->kind;
    promise = entry->promise;
    ++(table.counts.*counter);
    is_grouped = end_use(*entry);
  }
  if (is_grouped) leave_group(*entry);
  leave();
  return promise;
}

void manager_core::begin_wait(task_id id, suspension& wait, waiter& entry, std::errc& failed) noexcept {
  shard& table = shard_of(id);
  locked guard(table.mutex);
  managed_entry* target = table.find(id);
  if (!target) failed = std::errc::no_such_process;
  else if (target->state != entry_state::coroutine) failed = std::errc::invalid_argument;
  else if (target->coroutine == current_context().coroutine()) failed = std::errc::resource_deadlock_would_occur;
  else return target->begin_wait(wait, entry);
  [[maybe_unused]] const bool taken = wait.take_now(entry, *this);
}

// --- joining

// Retains manager_core: once the waiter is linked, the wait may end and release its reference.
void manager_core::begin_join(suspension& wait, waiter& entry) noexcept {
  retain();
  {
    locked guard(joiners_mutex_);
    if (!is_empty()) joiners_.enlist(wait, *this, entry);
    else [[maybe_unused]] const bool taken = wait.take_now(entry, *this);
  }
  cancel_daemons_of_join();
  release();
}

// Whether the running code is one of the managed coroutines, or below one.
bool manager_core::runs_here() const noexcept {
  for (const context* ctx = &current_context(); ctx; ctx = ctx->parent())
    if (ctx == context_.get()) return true;
  return false;
}

task_id manager_core::current() const noexcept {
  const scheduled* self = scheduled_of(current_context().coroutine());
  return self && &self->target().for_children() == &children_ ? task_id(self->target().coroutine_id()) : task_id::none;
}

bool manager_core::detach(waiter& entry) noexcept {
  locked guard(joiners_mutex_);
  return joiners_.take_out(entry);
}

// --- the spawns of its coroutines

std::error_code manager_core::child_target::enroll(std::size_t count) noexcept {
  if (std::error_code refused = core.target_.enroll(count)) return refused;
  core.enter(count);
  return {};
}

std::error_code manager_core::child_target::enroll_children(std::size_t count) noexcept {
  if (std::error_code refused = core.target_.enroll_children(count)) return refused;
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
  spawn_target& target = core.target_;
  core.leave();
  target.leave();
}

}}}  // namespace hocket::detail
