#include <hocket/base/fatal.hpp>
#include <hocket/core/detail/current.hpp>
#include <hocket/core/detail/scheduled.hpp>
#include <hocket/core/detail/wait_here.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/coro/scope.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

// Where what the running coroutine spawns may run: on any worker, unless it is a part of a coroutine (a child of a
// when_all), whose parts run on one worker at a time.
executor& running_executor() noexcept {
  const executor_seat& seat = this_thread().seat;
  const scheduled* self = current_context().strand();
  if (seat.pool && self && &self->home() == seat.pool) return *seat.pool;
  executor* on = seat.running_on;
  if (!on)
    fatal("a scope was made outside of any executor",
          "make it in a coroutine, or name where its children run: scope{loop}");
  return *on;
}

spawn_target* target_of_caller() noexcept {
  scheduled* self = current_context().coroutine();
  return self ? &self->target().for_children() : nullptr;
}

}  // namespace

scope::scope(const scope_options& options, std::source_location location)
    : scope(running_executor(), target_of_caller(), options, location) {}

scope::scope(spawn_target& target, const scope_options& options, std::source_location location)
    : scope(target.home(), &target, options, location) {
  // Code of another target made it: what stops the target stops the children, too.
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
  // ORDER: acquire, pairs with the fetch_sub in release_shares(): what the children did is visible.
  return count_.load(std::memory_order_acquire) & ~own;
}

// The exception may be that of a kill, which the link is about to hand on: no child is to take it for a cancellation.
void scope::fail() noexcept {
  // ORDER: relaxed, pairs with nothing: an exception that a child throws at the same time goes either way.
  failing_.store(true, std::memory_order_relaxed);
  const stop_source* above = context_->parent()->stop();
  stop_.request(above && above->killed() ? stop_level::kill : stop_level::cancel);
}

// With a share of the count, so that the scope does not end under it, by whichever child ends because of it. No share
// can be had of a count of zero: then the scope has been joined, and the caller knows otherwise that it stays.
void scope::request(stop_level level) noexcept {
  // ORDER: relaxed, pairs with nothing: the share only keeps the count from zero.
  std::size_t seen = count_.load(std::memory_order_relaxed);
  while (seen != 0 && !count_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) continue;
  stop_.request(level);
  if (seen != 0) release_shares(1);
}

void scope::begin_join(suspension& wait, waiter& entry) noexcept {
  expects(joiner_ == nullptr, "a scope is joined by two at once", "join it in one place", context_->name(),
          context_->spawned());
  entry.enlist(wait, *this);
  joiner_ = &entry;
  release_shares(own);
}

std::error_code scope::enroll(std::size_t count) noexcept {
  if (std::error_code refused = target_ ? target_->enroll_children(count) : std::error_code{}) return refused;
  // ORDER: relaxed, pairs with nothing: the spawner keeps the scope from ending.
  count_.fetch_add(count, std::memory_order_relaxed);
  return {};
}

void scope::leave() noexcept {
  spawn_target* above = target_;  // the scope may be gone after the next line
  release_shares(1);
  if (above) above->leave();
}

// By a child, a request or the joiner. The scope may be gone afterwards.
void scope::release_shares(std::size_t count) noexcept {
  // ORDER: acq_rel, pairs with itself on the other sides: the last one finds the joiner, who sees what the others did.
  if (count_.fetch_sub(count, std::memory_order_acq_rel) == count) leave_joined();
}

// The last one is gone, and somebody joins. The scope takes its share back first: it may be gone after the grant.
void scope::leave_joined() noexcept {
  waiter& entry = *std::exchange(joiner_, nullptr);
  // ORDER: relaxed, pairs with nothing: the joiner, who alone can spawn again, is woken by the grant.
  count_.store(own, std::memory_order_relaxed);
  entry.claim_popped().post();
}

unhandled_handler scope::on_unhandled() const noexcept {
  // ORDER: relaxed, pairs with nothing: see fail().
  if (failing_.load(std::memory_order_relaxed)) return [](std::exception_ptr, const context&) noexcept {};
  return target_ ? target_->on_unhandled() : &abort_on_unhandled;
}

}}  // namespace hocket
