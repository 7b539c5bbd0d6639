#include <hocket/base/fatal.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/scheduled.hpp>
#include <hocket/coro/detail/fork_group.hpp>

namespace hocket::inline HOCKET_ABI::detail {

void fork_group::expect_over() const noexcept {
  debug_expects(!begun_, "a coroutine was destroyed while it waits for what it forked",
                "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
}

fork_group::handle fork_group::begin_group(const handle* children, std::size_t count, handle parent,
                                           coroutine_header* above, bool migrates) {
  thread_state& here = this_thread();
  expect_no_lock(here);
  context& ctx = above && above->ctx ? *above->ctx : current_context();
  set(children, count, parent, above != nullptr);
  ctx_ = &ctx;
  if (!ctx.forks()) {
    make_context(ctx);
    const scheduled* strand = ctx.strand();
    migrates = migrates && strand && strand->migrates();
  }
  here.ctx = ctx_;
  migrates_ = migrates;
  joins_ = !migrates || outer_;  // the outermost group's parent has another context
  parent_home_ = here.seat.running_on;
  const std::uint16_t budget = above ? above->budget : transfer_budget;
  if (budget == 0 && here.seat.running_on) [[unlikely]]
    return begin_later(here);
  return begin_next(here, budget);
}

// Of the outermost group.
void fork_group::make_context(context& above) {
  const context_ptr made = context::child_of_forks(above);
  made->retain();
  ctx_ = made.get();
  outer_ = &above;
  special_ = true;
}

fork_group::handle fork_group::begin_crowded(thread_state& here, handle child) noexcept {
  if (!here.seat.forks || !here.seat.forks->push(*this)) header_of(child).flags |= task_flag::keeps_rest;
  else if (here.seat.forks->wanted()) here.seat.pool->offer_fork();
  return child;
}

fork_group::handle fork_group::begin_wanted(thread_state& here, handle child) noexcept {
  here.seat.pool->offer_fork();
  return child;
}

// The chain has used its budget up: the stack is unwound first. The rest, with the next child, goes into the deque;
// this branch is over, and the worker takes the rest from there. Where there is no deque the child goes through the
// queue: nothing else of the group does meanwhile.
fork_group::handle fork_group::begin_later(thread_state& here) noexcept {
  if (here.seat.forks && here.seat.forks->push(*this)) {
    if (here.seat.forks->wanted()) here.seat.pool->offer_fork();
    return end_branch(here, 0);
  }
  const handle child = *next_++;
  coroutine_header& header = header_of(child);
  header.continuation.handle = parent_;
  header.ctx = ctx_;
  header.budget = transfer_budget;
  header.reserved |= task_bit::start_queued;
  mark(header, task_flag::forked | (next_ == end_ ? task_flag::last_fork : task_flag::keeps_rest));
  return bounce(child, *here.seat.running_on);
}

// A thief, or the worker itself when the child has left it, is the holder now. Its stack has just begun.
fork_group::handle fork_group::begin_rest(fork_entry& self) noexcept {
  auto& group = static_cast<fork_group&>(self);
  thread_state& here = this_thread();
  ++group.steals_;
  group.joins_ = true;
  here.ctx = group.ctx_;
  return group.go_on(here, transfer_budget);
}

fork_group::handle fork_group::ended(coroutine_header& child) noexcept {
  fork_group& group = of(child);
  thread_state& here = this_thread();
  // ORDER: relaxed, pairs with the load in go_on(): the exception itself is ordered by the join.
  if (child.reserved & task_bit::error) [[unlikely]]
    group.failed_.store(true, std::memory_order_relaxed);
  const std::uint16_t budget = child.budget;
  if (child.flags == task_flag::forked) [[likely]] {
    const auto got = here.seat.forks ? here.seat.forks->try_pop_if(group) : fork_deque::popped::missed;
    if (got == fork_deque::popped::taken) [[likely]]
      return group.go_on(here, budget);
    if (got == fork_deque::popped::contended) return group.end_contended(here, budget);
    return group.end_branch(here, budget);
  }
  if (child.flags & task_flag::keeps_rest) return group.go_on(here, budget);
  return group.join(here, budget);
}

// A child has failed. Those that do not begin count as awaited: they may be dropped.
fork_group::handle fork_group::skip_rest(thread_state& here, std::uint16_t budget) noexcept {
  for (; next_ != end_; ++next_) header_of(*next_).continuation.handle = parent_;
  return join(here, budget);
}

fork_group::handle fork_group::end_contended(thread_state& here, std::uint16_t budget) noexcept {
  if (here.seat.forks->pop_contended()) return go_on(here, budget);
  return end_branch(here, budget);
}

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
  executor* const to = migrates_ || !parent_home_ ? here.seat.running_on : parent_home_;
  const bool bounces = budget == 0 && to;
  if (has_header_) header_of(parent_).budget = budget == 0 ? transfer_budget : static_cast<std::uint16_t>(budget - 1);
  here.ctx = ctx_;
  if (!bounces && to == here.seat.running_on) return parent_;
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
  if (!outer_) return;
  this_thread().ctx = outer_;
  if (outer_->stop() && outer_->stop()->killed()) static_cast<void>(failure_of(wait_end::killed));
}

}  // namespace hocket::inline HOCKET_ABI::detail
