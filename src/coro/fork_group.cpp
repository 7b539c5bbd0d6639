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
  thread_state& thread = this_thread();
  expect_no_lock(thread);
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
  thread.ctx = ctx_;
  migrates_ = migrates;
  parent_home_ = thread.binding.running_on;
  return continue_group(thread, above ? above->budget : transfer_budget);
}

// By the outermost group.
void fork_group::make_context(context& above) {
  const context_ptr child = context::child_of_forks(above);
  child->retain();
  ctx_ = child.get();
  outer_ = &above;
  special_ = true;
}

// --- children as calls

bool fork_group::begin_by_transfer(std::size_t count, handle parent, coroutine_header& above) {
  thread_state& thread = this_thread();
  if (!thread.binding.running_on) return begin_unscheduled(thread, count, parent, above);
  const handle first = begin_group(count, parent, &above, true);
  if (first == parent) return false;
  first.resume();
  return true;
}

// Without an executor nothing unwinds the stack. So the parent continues from here, not from the end of a child:
// otherwise each group of a loop would leave its frames on the stack. If another thread resumed a child, the later of
// this function and the end of the group resumes the parent.
bool fork_group::begin_unscheduled(thread_state& thread, std::size_t count, handle parent, coroutine_header& above) {
  const handle first = begin_group(count, parent, &above, true);
  if (first == parent) return false;
  special_ = true;
  // ORDER: relaxed, pairs with the exchange in resume_parent(): no child runs yet.
  unscheduled_.store(unscheduled::running, std::memory_order_relaxed);
  first.resume();
  // ORDER: acq_rel, pairs with the exchange in resume_parent(): the parent sees all writes of its children.
  if (unscheduled_.exchange(unscheduled::suspended, std::memory_order_acq_rel) == unscheduled::running) return true;
  thread.ctx = ctx_;
  return false;
}

// Renews the number of calls when it is used up. False: other work is ready, or four renewals are used up, so the
// worker's turn is over.
bool fork_group::renew_calls(thread_state& thread) noexcept {
  constexpr std::uint8_t renewals_per_turn = 4;
  const executor_binding& binding = thread.binding;
  thread.calls_left = calls_per_renewal;
  const bool has_other_work =
      (binding.ready && !binding.ready->empty()) || (binding.stealable && !binding.stealable->empty());
  if (!has_other_work && ++thread.failed_searches < renewals_per_turn) return true;
  thread.failed_searches = 0;
  thread.turn_is_over = true;
  return false;
}

fork_group::turn fork_group::call_later(const caller& origin, std::size_t next) noexcept {
  origin.thread.forked_call = origin.outer;
  next_ = next;
  const handle parent = parent_;
  return continue_with(parent, begin_later(origin.thread));
}

void fork_group::offer(thread_state& thread) noexcept { thread.binding.pool->offer_fork(); }

fork_group::turn fork_group::call_crowded(const caller& origin, handle child) noexcept {
  origin.thread.forked_call = origin.outer;
  const handle parent = parent_;
  return continue_with(parent, publish_rest(origin.thread, child));
}

// The next child could not be made.
fork_group::turn fork_group::continue_without_child(const caller& origin) noexcept {
  origin.thread.forked_call = origin.outer;
  const handle parent = parent_;
  return continue_with(parent, join(origin.thread, origin.budget));
}

// A child has ended. The rest was stolen, or is about to be.
fork_group::turn fork_group::continue_after_theft(const caller& origin, fork_deque::pop_outcome result) noexcept {
  if (result == fork_deque::pop_outcome::contended && origin.thread.binding.forks->pop_contended()) return turn::next;
  origin.thread.forked_call = origin.outer;
  const handle parent = parent_;
  return continue_with(parent, end_branch(origin.thread, origin.budget));
}

fork_group::turn fork_group::continue_with(handle parent, handle next) noexcept {
  if (next == parent) return turn::parent;
  next.resume();
  return turn::none;
}

// From now on the child does not end as a call.
void fork_group::forget_call(const coroutine_header& child) noexcept {
  if (this_thread().forked_call == &child) leave_forked_call();
}

// --- children by transfer

// Pushes the rest, so that it can be stolen while the child runs. Returns the child.
fork_group::handle fork_group::publish_rest(thread_state& thread, handle child) noexcept {
  fork_deque* const forks = thread.binding.forks;
  if (!forks || !forks->push(*this)) header_of(child).flags |= task_flag::keeps_rest;
  else if (forks->should_offer()) offer(thread);
  return child;
}

// Makes the next child. Null: it could not be made. `budget`: the remaining transfers.
fork_group::handle fork_group::make_next(std::uint16_t budget) noexcept {
  const std::size_t index = next_;
  const handle child = make_(*this, index);
  if (!child) return child;
  next_ = index + 1;
  const std::uint8_t last = next_ == end_ ? task_flag::last_fork : std::uint8_t{0};
  prepare(child, static_cast<std::uint16_t>(budget - 1), task_flag::forked | last);
  return child;
}

fork_group::handle fork_group::begin_next(thread_state& thread, std::uint16_t budget) noexcept {
  const handle child = make_next(budget);
  if (!child) return join(thread, budget);
  return header_of(child).flags & task_flag::last_fork ? child : publish_rest(thread, child);
}

fork_group::handle fork_group::continue_group(thread_state& thread, std::uint16_t budget) noexcept {
  // ORDER: relaxed, pairs with the store in fail(): an unneeded child may begin.
  if (failed_.load(std::memory_order_relaxed)) return join(thread, budget);
  if (budget == 0 && thread.binding.running_on) return begin_later(thread);
  return begin_next(thread, budget);
}

// The chain has used up its budget, so the stack is unwound first. The rest, with the next child, goes into the deque,
// and this branch is over. The worker pops the rest later. Without a deque the child goes through the queue; no other
// part of the group uses the queue meanwhile.
fork_group::handle fork_group::begin_later(thread_state& thread) noexcept {
  if (thread.binding.forks && thread.binding.forks->push(*this)) {
    if (thread.binding.forks->should_offer()) offer(thread);
    return end_branch(thread, 0);
  }
  const handle child = make_next(transfer_budget);
  if (!child) return join(thread, 0);
  std::uint8_t& flags = header_of(child).flags;
  if (!(flags & task_flag::last_fork)) flags |= task_flag::keeps_rest;
  return queue_start(child) ? std::noop_coroutine() : child;
}

// By a thief, or by the worker after the child has left it: it is the holder now, with a fresh stack.
fork_group::handle fork_group::begin_rest(fork_entry& self) noexcept {
  auto& group = static_cast<fork_group&>(self);
  thread_state& thread = this_thread();
  ++group.steals_;
  thread.ctx = group.ctx_;
  return group.continue_group(thread, transfer_budget);
}

fork_group::handle fork_group::ended(coroutine_header& child) noexcept {
  fork_group& group = group_of(child);
  thread_state& thread = this_thread();
  const std::uint16_t budget = child.budget;
  const std::uint8_t flags = child.flags;
  forget_call(child);
  if (child.reserved & task_bit::ended_early) group.defer_destroy(child);
  else std::coroutine_handle<coroutine_header>::from_promise(child).destroy();
  if (flags & task_flag::last_fork) return group.join(thread, budget);
  const bool keeps_rest = (flags & task_flag::keeps_rest) != 0;
  if (keeps_rest || (thread.binding.forks && thread.binding.forks->pop_if(group)))
    return group.continue_group(thread, budget);
  return group.end_branch(thread, budget);
}

// --- the end

fork_group::handle fork_group::end_branch(thread_state& thread, std::uint16_t budget) noexcept {
  // ORDER: acq_rel, pairs with the other operations on the balance: the parent sees the writes of all children.
  if (balance_.fetch_sub(1, std::memory_order_acq_rel) == 1) return resume_parent(thread, budget);
  return std::noop_coroutine();
}

fork_group::handle fork_group::join(thread_state& thread, std::uint16_t budget) noexcept {
  const std::int32_t steals = steals_;
  // ORDER: acq_rel, pairs with the fetch_sub in end_branch(): as there.
  if (steals != 0 && balance_.fetch_add(steals, std::memory_order_acq_rel) != -steals) return std::noop_coroutine();
  return resume_parent(thread, budget);
}

fork_group::handle fork_group::resume_parent(thread_state& thread, std::uint16_t budget) noexcept {
  // ORDER: relaxed, pairs with the store in begin_unscheduled(): it does not change from or to `no` while a child runs.
  // The exchange: acq_rel, pairs with the exchange in begin_unscheduled(): the later one sees the writes of the other.
  if (special_ && unscheduled_.load(std::memory_order_relaxed) != unscheduled::no &&
      unscheduled_.exchange(unscheduled::ended, std::memory_order_acq_rel) == unscheduled::running)
    return std::noop_coroutine();
  executor* const target = migrates_ || !parent_home_ ? thread.binding.running_on : parent_home_;
  const bool bounces = budget == 0 && target;
  if (has_header_) header_of(parent_).budget = budget == 0 ? transfer_budget : static_cast<std::uint16_t>(budget - 1);
  thread.ctx = ctx_;
  if (lost_) special_ = true;
  if (!bounces && target == thread.binding.running_on) return parent_;
  posted_ = special_ = true;
  return bounce(parent_, *target);
}

// Posts the coroutine to an executor, so the stack is unwound.
fork_group::handle fork_group::bounce(handle target, executor& home) noexcept {
  ::new (static_cast<void*>(&work_)) runnable{nullptr, target, &home};
  hocket::detail::post(work_);  // now the parent may run and destroy this group
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
  group_of(child).fail(place, std::move(error));
}

// Keeps the failure of the first place.
void fork_group::fail(const void* place, std::exception_ptr error) noexcept {
  // ORDER: relaxed, pairs with the load in continue_group(): the exception itself is ordered by the join.
  failed_.store(true, std::memory_order_relaxed);
  const locked guard(losses_mutex_);
  losses& lost = open_losses();
  if (lost.error && !std::less<>()(place, lost.place)) return;
  lost.place = place;
  lost.error.swap(error);
}

// A child that ended early still has its locals, and one of its awaiters is running.
void fork_group::defer_destroy(coroutine_header& child) noexcept {
  const locked guard(losses_mutex_);
  losses& lost = open_losses();
  child.continuation.next = reinterpret_cast<runnable*>(lost.early_frames);
  lost.early_frames = &child;
}

fork_group::losses& fork_group::open_losses() noexcept {
  if (!std::exchange(lost_, true)) std::construct_at(&losses_);
  return losses_;
}

// Frees the frames of the children that ended early.
std::exception_ptr fork_group::take_error() noexcept {
  if (!std::exchange(lost_, false)) return nullptr;
  const early_destruction leaving(true);
  while (coroutine_header* const child = losses_.early_frames) {
    losses_.early_frames = reinterpret_cast<coroutine_header*>(child->continuation.next);
    std::coroutine_handle<coroutine_header>::from_promise(*child).destroy();
  }
  std::exception_ptr error = std::move(losses_.error);
  std::destroy_at(&losses_);
  return error;
}

}}}  // namespace hocket::detail
