#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/core/thread/seam/stealable_queue.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/coro/detail/fork_group.hpp>

#include "coro/queued_start.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void fork_group::expect_first() const noexcept {
  debug_expects(!parent_, "a fork was awaited twice", "make another one: its children run once");
}
void fork_group::expect_over() const noexcept {
  debug_expects(!begun_, "a coroutine was destroyed while it waits for what it forked",
                "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
}

fork_group::handle fork_group::begin_group(std::size_t count, handle parent, coroutine_header* above, bool migrates) {
  thread_state& here = this_thread();
  expect_no_lock(here);
  context& ctx = above && above->ctx ? *above->ctx : current_context();
  ctx_ = &ctx;
  const bool outermost = !ctx.forks();
  if (outermost) make_context(ctx);
  set(count, parent);
  has_header_ = above != nullptr;
  next_ = 0;
  if (outermost) {
    const strand_state* strand = ctx.strand();
    migrates = migrates && strand && strand->migrates();
  }
  here.ctx = ctx_;
  migrates_ = migrates;
  parent_home_ = here.binding.running_on;
  return go_on(here, above ? above->budget : transfer_budget);
}

// Of the outermost group.
void fork_group::make_context(context& above) {
  const context_ptr made = context::child_of_forks(above);
  made->retain();
  ctx_ = made.get();
  outer_ = &above;
  special_ = true;
}

// --- children as calls

bool fork_group::begin_by_transfer(std::size_t count, handle parent, coroutine_header& above) {
  thread_state& here = this_thread();
  if (!here.binding.running_on) return begin_by_hand(here, count, parent, above);
  const handle first = begin_group(count, parent, &above, true);
  if (first == parent) return false;
  first.resume();
  return true;
}

// Without an executor nothing unwinds the stack. So the parent goes on from here, not from the end of a child: else
// each group of a loop would leave its frames behind. If a child was resumed by another thread, then the last of two
// goes on.
bool fork_group::begin_by_hand(thread_state& here, std::size_t count, handle parent, coroutine_header& above) {
  const handle first = begin_group(count, parent, &above, true);
  if (first == parent) return false;
  special_ = true;
  // ORDER: relaxed, pairs with the exchange in resume_parent(): no child runs yet.
  hand_.store(by_hand::running, std::memory_order_relaxed);
  first.resume();
  // ORDER: acq_rel, pairs with the exchange in resume_parent(): the parent sees what its children left.
  if (hand_.exchange(by_hand::left, std::memory_order_acq_rel) == by_hand::running) return true;
  here.ctx = ctx_;
  return false;
}

// After so many calls. Whether the thread may go on with calls: nothing else is ready, and the last turn was not long
// ago.
bool fork_group::look_around(thread_state& here) noexcept {
  constexpr std::uint8_t looks_in_a_turn = 4;
  const executor_binding& binding = here.binding;
  here.calls_left = calls_between_looks;
  const bool others = (binding.ready && !binding.ready->empty()) || (binding.stealable && !binding.stealable->empty());
  if (!others && ++here.failed_searches < looks_in_a_turn) return true;
  here.failed_searches = 0;
  here.turn_is_over = true;
  return false;
}

fork_group::turn fork_group::call_later(const caller& by, std::size_t next) noexcept {
  by.here.forked_call = by.was;
  next_ = next;
  const handle parent = parent_;
  return go_on_by(parent, begin_later(by.here));
}

void fork_group::offer(thread_state& here) noexcept { here.binding.pool->offer_fork(); }

fork_group::turn fork_group::call_crowded(const caller& by, handle child) noexcept {
  by.here.forked_call = by.was;
  const handle parent = parent_;
  return go_on_by(parent, publish_rest(by.here, child));
}

// The next child could not be made.
fork_group::turn fork_group::go_on_without(const caller& by) noexcept {
  by.here.forked_call = by.was;
  const handle parent = parent_;
  return go_on_by(parent, join(by.here, by.budget));
}

// A child has ended. The rest was stolen, or is about to be.
fork_group::turn fork_group::go_on_beside_thief(const caller& by, fork_deque::pop_outcome got) noexcept {
  if (got == fork_deque::pop_outcome::contended && by.here.binding.forks->pop_contended()) return turn::next;
  by.here.forked_call = by.was;
  const handle parent = parent_;
  return go_on_by(parent, end_branch(by.here, by.budget));
}

fork_group::turn fork_group::go_on_by(handle parent, handle next) noexcept {
  if (next == parent) return turn::parent;
  next.resume();
  return turn::nobody;
}

// The child does not end as a call any more.
void fork_group::forget_call(const coroutine_header& child) noexcept {
  if (this_thread().forked_call == &child) leave_forked_call();
}

// --- children by transfer

// Puts the rest where it can be stolen while the child runs, and gives the child.
fork_group::handle fork_group::publish_rest(thread_state& here, handle child) noexcept {
  fork_deque* const forks = here.binding.forks;
  if (!forks || !forks->push(*this)) header_of(child).flags |= task_flag::keeps_rest;
  else if (forks->should_offer()) offer(here);
  return child;
}

// Makes the next child. Null: it could not be made. `budget`: the transfers that are left.
fork_group::handle fork_group::make_next(std::uint16_t budget) noexcept {
  const std::size_t index = next_;
  const handle child = make_(*this, index);
  if (!child) return child;
  next_ = index + 1;
  const std::uint8_t last = next_ == end_ ? task_flag::last_fork : std::uint8_t{0};
  prepare(child, static_cast<std::uint16_t>(budget - 1), task_flag::forked | last);
  return child;
}

fork_group::handle fork_group::begin_next(thread_state& here, std::uint16_t budget) noexcept {
  const handle child = make_next(budget);
  if (!child) return join(here, budget);
  return header_of(child).flags & task_flag::last_fork ? child : publish_rest(here, child);
}

fork_group::handle fork_group::go_on(thread_state& here, std::uint16_t budget) noexcept {
  // ORDER: relaxed, pairs with the store in fail(): children that need not begin may begin.
  if (failed_.load(std::memory_order_relaxed)) return join(here, budget);
  if (budget == 0 && here.binding.running_on) return begin_later(here);
  return begin_next(here, budget);
}

// The chain has used its budget up: the stack is unwound first. The rest, with the next child, goes into the deque;
// this branch is over, and the worker takes the rest from there. Where there is no deque the child goes through the
// queue: nothing else of the group does meanwhile.
fork_group::handle fork_group::begin_later(thread_state& here) noexcept {
  if (here.binding.forks && here.binding.forks->push(*this)) {
    if (here.binding.forks->should_offer()) offer(here);
    return end_branch(here, 0);
  }
  const handle child = make_next(transfer_budget);
  if (!child) return join(here, 0);
  std::uint8_t& flags = header_of(child).flags;
  if (!(flags & task_flag::last_fork)) flags |= task_flag::keeps_rest;
  return queue_start(child) ? std::noop_coroutine() : child;
}

// A thief, or the worker itself when the child has left it, is the holder now. Its stack has just begun.
fork_group::handle fork_group::begin_rest(fork_entry& self) noexcept {
  auto& group = static_cast<fork_group&>(self);
  thread_state& here = this_thread();
  ++group.steals_;
  here.ctx = group.ctx_;
  return group.go_on(here, transfer_budget);
}

fork_group::handle fork_group::ended(coroutine_header& child) noexcept {
  fork_group& group = of(child);
  thread_state& here = this_thread();
  const std::uint16_t budget = child.budget;
  const std::uint8_t flags = child.flags;
  forget_call(child);
  if (child.reserved & task_bit::ended_early) group.keep(child);
  else std::coroutine_handle<coroutine_header>::from_promise(child).destroy();
  if (flags & task_flag::last_fork) return group.join(here, budget);
  const bool keeps_rest = (flags & task_flag::keeps_rest) != 0;
  if (keeps_rest || (here.binding.forks && here.binding.forks->pop_if(group))) return group.go_on(here, budget);
  return group.end_branch(here, budget);
}

// --- the end

fork_group::handle fork_group::end_branch(thread_state& here, std::uint16_t budget) noexcept {
  // ORDER: acq_rel, pairs with the other operations on the balance: the parent sees what all children left.
  if (balance_.fetch_sub(1, std::memory_order_acq_rel) == 1) return resume_parent(here, budget);
  return std::noop_coroutine();
}

fork_group::handle fork_group::join(thread_state& here, std::uint16_t budget) noexcept {
  const std::int32_t steals = steals_;
  // ORDER: acq_rel, pairs with the fetch_sub in end_branch(): as there.
  if (steals != 0 && balance_.fetch_add(steals, std::memory_order_acq_rel) != -steals) return std::noop_coroutine();
  return resume_parent(here, budget);
}

fork_group::handle fork_group::resume_parent(thread_state& here, std::uint16_t budget) noexcept {
  // ORDER: relaxed, pairs with the store in begin_by_hand(): whether there is one does not change while a child runs.
  // The exchange: acq_rel, pairs with that in begin_by_hand(): whoever comes last sees what the other left.
  if (special_ && hand_.load(std::memory_order_relaxed) != by_hand::no &&
      hand_.exchange(by_hand::ended, std::memory_order_acq_rel) == by_hand::running)
    return std::noop_coroutine();
  executor* const to = migrates_ || !parent_home_ ? here.binding.running_on : parent_home_;
  const bool bounces = budget == 0 && to;
  if (has_header_) header_of(parent_).budget = budget == 0 ? transfer_budget : static_cast<std::uint16_t>(budget - 1);
  here.ctx = ctx_;
  if (lost_) special_ = true;
  if (!bounces && to == here.binding.running_on) return parent_;
  posted_ = special_ = true;
  return bounce(parent_, *to);
}

// Through the queue of an executor: the stack is unwound.
fork_group::handle fork_group::bounce(handle to, executor& on) noexcept {
  ::new (static_cast<void*>(&work_)) runnable{nullptr, to, &on};
  hocket::detail::post(work_);  // from here on the parent may run and destroy this group
  return std::noop_coroutine();
}

void fork_group::end_specially() {
  if (posted_) this_thread().ctx = ctx_;
  if (outer_) this_thread().ctx = outer_;
  const std::exception_ptr error = take_error();
  if (outer_ && outer_->stop() && outer_->stop()->killed()) static_cast<void>(failure_of(wait_end::killed));
  if (error) std::rethrow_exception(error);
}

// --- losses

void fork_group::child_failed(coroutine_header& child, const void* place, std::exception_ptr error) noexcept {
  forget_call(child);
  of(child).fail(place, std::move(error));
}

// Of several failures the first in the order of the places counts.
void fork_group::fail(const void* place, std::exception_ptr error) noexcept {
  // ORDER: relaxed, pairs with the load in go_on(): the exception itself is ordered by the join.
  failed_.store(true, std::memory_order_relaxed);
  const locked guard(losing_);
  losses& lost = open_losses();
  if (lost.error && !std::less<>()(place, lost.place)) return;
  lost.place = place;
  lost.error.swap(error);
}

// A child that ended early: its locals are still there, and an awaiter among them is running.
void fork_group::keep(coroutine_header& child) noexcept {
  const locked guard(losing_);
  losses& lost = open_losses();
  child.continuation.next = reinterpret_cast<runnable*>(lost.kept);
  lost.kept = &child;
}

fork_group::losses& fork_group::open_losses() noexcept {
  if (!std::exchange(lost_, true)) std::construct_at(&losses_);
  return losses_;
}

// Frees what was kept.
std::exception_ptr fork_group::take_error() noexcept {
  if (!std::exchange(lost_, false)) return nullptr;
  const early_destruction leaving(true);
  while (coroutine_header* const child = losses_.kept) {
    losses_.kept = reinterpret_cast<coroutine_header*>(child->continuation.next);
    std::coroutine_handle<coroutine_header>::from_promise(*child).destroy();
  }
  std::exception_ptr error = std::move(losses_.error);
  std::destroy_at(&losses_);
  return error;
}

}}}  // namespace hocket::detail
