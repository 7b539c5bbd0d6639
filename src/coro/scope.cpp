// The count of a scope is one word. Each of its parts is a share that keeps the scope: a join ends, and the scope may
// be destroyed, when the word is 0.
//
//   bits 0..29   children: other than daemons, and requests in progress
//   bit  30      `pinned`; see below
//   bit  31      `own`: the share of the scope, unless a join waits
//   bits 32..62  daemons
//   bit  63      `watched`: there were daemons, and they are not cancelled
//
// # The end of a join
//
//   1. The join releases `own`.
//   2. The thread that takes the low half to 0 *drains* the scope. If the word is 0, it wakes the joiner. Otherwise, if
//      `watched` is set, that share is now the thread's: it cancels the daemons, and then releases the share.
//   3. The last share of all wakes the joiner.
//
// # Hazards
//
// If a daemon spawns a child on a drained scope, and that child ends, then the low half becomes 0 again, and a second
// thread could take `watched` for its own, while the first one ends the scope. Prevented: enroll() that finds the low
// half 0 sets `pinned` before the child begins. `pinned` is released with the last share of the high half, so the low
// half does not become 0 while `watched` is set.
//
// If a request takes a share of a drained scope and releases it, then the same happens. Prevented: its share is in the
// high half then.
//
// If a daemon is spawned after the daemons were cancelled, then nothing may cancel it. Prevented: while other daemons
// run, the group stays cancelled, and the new daemon begins cancelled. The first daemon after them renews the group
// and sets `watched` again. Its spawner is a child, so the scope is not drained meanwhile.
#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/wait_here.hpp>
#include <hocket/coro/scope.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

// The target for spawns of the running coroutine: any worker, unless the code is a part of a coroutine (a child of a
// when_all). The parts of a coroutine run on one worker at a time.
executor& running_executor() noexcept {
  const executor_binding& binding = this_thread().binding;
  const scheduled* self = scheduled_of(current_context().strand());
  if (binding.pool && self && &self->home() == binding.pool) return *binding.pool;
  executor* home = binding.running_on;
  if (!home)
    fatal("a scope was made outside of any executor",
          "make it in a coroutine, or name where its children run: scope{loop}");
  return *home;
}

spawn_target* target_of_caller() noexcept {
  scheduled* self = scheduled_of(current_context().coroutine());
  auto* const of_job = static_cast<spawn_target*>(current_slot(thread_slot::target));
  spawn_target* const target = self ? &self->target() : of_job;
  return target ? &target->for_scopes() : nullptr;
}

}  // namespace

scope::scope(const scope_options& options, std::source_location location)
    : scope(running_executor(), target_of_caller(), options, location) {}

scope::scope(spawn_target& target, const scope_options& options, std::source_location location)
    : scope(target.home(), &target, options, location) {
  // The creator belongs to another target: a stop of the target stops the children, too.
  stop_source* target_stop = target.parent_context().stop();
  if (target_stop && current_executor() && &target != target_of_caller()) target_link_.emplace(*target_stop, stop_);
}

scope::scope(executor& home, spawn_target* target, const scope_options& options, std::source_location location)
    : home_(home),
      target_(target),
      exceptions_(std::uncaught_exceptions()),
      context_(context::child_of(
          current_executor() || !target ? current_context() : target->parent_context(),
          {options.name, &stop_, deadline_on(home, options.within, options.name.c_str(), location)}, location)) {
  if (stop_source* parent = context_->parent()->stop()) link_.emplace(*parent, stop_);
}

scope::~scope() {
  if (std::uncaught_exceptions() > exceptions_) fail();
  bool joined = size() == 0 || detail::wait_here(join({}));
  expects(joined, "a scope was left by a task while children run, or a cancel() of another thread",
          "a task's destructors cannot wait: use co_await in_scope(body), or co_await its join() first",
          context_->name(), context_->spawned());
}

std::size_t scope::size() const noexcept {
  // ORDER: acquire, pairs with the fetch_sub in release_shares() and the compare-exchange in release_daemons(): the
  // writes of the children are visible.
  const std::uint64_t shares = count_.load(std::memory_order_acquire);
  return static_cast<std::size_t>((shares & children_bits) + (shares & daemon_bits) / one_daemon);
}

// The exception may belong to a kill that the link is about to pass on: no child may take it for a cancellation.
void scope::fail() noexcept {
  // ORDER: relaxed, pairs with nothing: an exception that a child throws at the same time may be first or second.
  failing_.store(true, std::memory_order_relaxed);
  const stop_source* above = context_->parent()->stop();
  stop_.request(above && above->killed() ? stop_level::kill : stop_level::cancel);
}

// The request holds a share of the count, because a child that ends by the request may end the scope. If the count is
// zero, the scope has been joined, and the caller ensures its lifetime.
void scope::request(stop_level level) noexcept {
  const std::uint64_t share = share_for_request();
  stop_.request(level);
  if (share == one_child) release_shares(1);
  else if (share == one_daemon) release_daemons(one_daemon);
}

// 0: no share.
std::uint64_t scope::share_for_request() noexcept {
  // ORDER: relaxed, pairs with nothing: the share only keeps the count from zero.
  std::uint64_t before = count_.load(std::memory_order_relaxed);
  while (before != 0) {
    const std::uint64_t share = static_cast<std::uint32_t>(before) != 0 ? one_child : one_daemon;
    // ORDER: relaxed, as above.
    if (count_.compare_exchange_weak(before, before + share, std::memory_order_relaxed)) return share;
  }
  return 0;
}

void scope::begin_join(suspension& wait, waiter& entry) noexcept {
  expects(joiner_ == nullptr, "a scope is joined by two at once", "join it in one place", context_->name(),
          context_->spawned());
  entry.enlist(wait, *this);
  joiner_ = &entry;
  release_shares(own);
}

std::error_code scope::enroll(std::size_t count) noexcept {
  const std::error_code refused = target_ ? target_->enroll_children(count) : std::error_code{};
  if (refused) return refused;
  // ORDER: relaxed, pairs with nothing: the spawner keeps the scope from ending.
  const std::uint64_t before = count_.fetch_add(count, std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  if (static_cast<std::uint32_t>(before) == 0) [[unlikely]]
    count_.fetch_or(pinned, std::memory_order_relaxed);
  return refused;
}

void scope::leave() noexcept {
  spawn_target* above = target_;  // the scope may be gone after the next line
  release_shares(1);
  if (above) above->leave();
}

// By a child, a request or the joiner. The joiner may destroy the scope at once.
void scope::release_shares(std::size_t count) noexcept {
  // ORDER: acq_rel, pairs with itself on the other sides: the last one sees the joiner, which sees the writes of the
  // others.
  const std::uint64_t before = count_.fetch_sub(count, std::memory_order_acq_rel);
  if (static_cast<std::uint32_t>(before) != count) return;
  if (before == count) leave_joined();
  else if (before & watched) cancel_daemons();
}

// --- daemons

spawn_target& scope::daemons() {
  daemon_group& group = daemons_.get_or_make(*this, target_);
  // ORDER: relaxed, pairs with nothing: see the last hazard above.
  if ((count_.load(std::memory_order_relaxed) & (watched | daemon_bits)) == 0) group.renew();
  return group;
}

std::error_code scope::enroll_daemons(std::size_t count, bool) noexcept {
  spawn_target* const below = daemons_.get()->below();
  const std::error_code refused = below ? below->enroll_children(count) : std::error_code{};
  if (refused) return refused;
  // ORDER: relaxed, pairs with nothing: the spawner keeps the scope from ending.
  std::uint64_t before = count_.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = before + count * one_daemon;
    if (!(before & daemon_bits)) next |= watched;
    // ORDER: relaxed, as above.
  } while (!count_.compare_exchange_weak(before, next, std::memory_order_relaxed));
  return refused;
}

void scope::leave_daemon() noexcept {
  spawn_target* const below = daemons_.get()->below();  // the scope may be gone after the next line
  release_daemons(one_daemon);
  if (below) below->leave();
}

// By the thread that has drained the scope. The joiner may destroy the scope at once.
void scope::cancel_daemons() noexcept {
  daemons_.get()->cancel();
  release_daemons(watched);
}

// The scope may be gone afterwards.
void scope::release_daemons(std::uint64_t shares) noexcept {
  // ORDER: relaxed, pairs with nothing: the compare-exchange verifies it.
  std::uint64_t before = count_.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = before - shares;
    if (!(next & (watched | daemon_bits))) next &= ~pinned;
    // ORDER: acq_rel, pairs with the fetch_sub in release_shares() and with itself: the last one sees the joiner, which
    // sees the writes of the others.
  } while (!count_.compare_exchange_weak(before, next, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (next == 0) leave_joined();
}

// --- the end of a join

// The last share is released, and there is a joiner. The scope takes its share back first, because the joiner may
// destroy it after the grant.
void scope::leave_joined() noexcept {
  waiter& entry = *std::exchange(joiner_, nullptr);
  // ORDER: relaxed, pairs with nothing: only the joiner can spawn again, and the grant wakes it.
  count_.store(own, std::memory_order_relaxed);
  entry.claim_popped().post();
}

unhandled_handler scope::on_unhandled() const noexcept {
  // ORDER: relaxed, pairs with nothing: see fail().
  if (failing_.load(std::memory_order_relaxed)) return [](std::exception_ptr, const context&) noexcept {};
  return target_ ? target_->on_unhandled() : &abort_on_unhandled;
}

}}  // namespace hocket
