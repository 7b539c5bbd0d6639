// stack_depot without a pool: single stacks, and waiters for a stack.
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/stack/stack_depot.hpp>

#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

result<stack_ref> stack_depot::acquire() noexcept {
  locked guard(mutex_);
  auto taken = take_stack();
  renew_crowded();
  if (!taken) {
    ++counts_.refusals;
    return failure(taken.error());
  }
  const stack_ref stack = geometry_.stack(*taken);
  unpoison_memory(stack.low, stack.size());
  return stack;
}

void stack_depot::release(const stack_ref& stack) noexcept {
  if (stack.canary) write_canary(stack.low);
  poison_memory(stack.low, stack.size());
  stack_waiter* served = nullptr;
  {
    locked guard(mutex_);
    --counts_.in_use;
    push_warm({reinterpret_cast<std::uintptr_t>(stack.cell) | static_cast<std::uintptr_t>(stack.canary), stack.top});
    served = serve();
    renew_crowded();
  }
  wake(served);
}

// --- waiting

void stack_depot::push_waiter(stack_waiter& waiter) noexcept {
  waiter.next_ = nullptr;
  waiter.previous_ = last_waiter_;
  (last_waiter_ ? last_waiter_->next_ : first_waiter_) = &waiter;
  last_waiter_ = &waiter;
  waiter.is_queued_ = true;
  ++counts_.waiting;
}

void stack_depot::erase_waiter(stack_waiter& waiter) noexcept {
  (waiter.previous_ ? waiter.previous_->next_ : first_waiter_) = waiter.next_;
  (waiter.next_ ? waiter.next_->previous_ : last_waiter_) = waiter.previous_;
  waiter.is_queued_ = false;
  --counts_.waiting;
}

stack_depot::enlisted stack_depot::wait(stack_waiter& waiter) noexcept {
  locked guard(mutex_);
  if (!first_waiter_) {
    if (auto taken = take_stack()) {
      const stack_ref stack = geometry_.stack(*taken);
      unpoison_memory(stack.low, stack.size());
      renew_crowded();
      return {enlisting::served, stack};
    } else if (taken.error() != std::errc::resource_unavailable_try_again || limit_ == 0) {
      ++counts_.refusals;
      return {enlisting::failed, {}, taken.error()};
    }
  }
  push_waiter(waiter);
  ++counts_.waits;
  renew_crowded();
  return {enlisting::waits};
}

bool stack_depot::withdraw(stack_waiter& waiter) noexcept {
  locked guard(mutex_);
  if (!waiter.is_queued_) return false;
  erase_waiter(waiter);
  renew_crowded();
  return true;
}

// Gives a stack to each waiter, in order, until no stack is left. Returns the list of served waiters, out of the queue.
stack_waiter* stack_depot::serve() noexcept {
  stack_waiter* first = nullptr;
  for (stack_waiter** last = &first; first_waiter_;) {
    auto taken = take_stack();
    if (!taken) break;
    stack_waiter& waiter = *first_waiter_;
    erase_waiter(waiter);
    waiter.stack_ = *taken;
    waiter.next_ = nullptr;
    *last = &waiter;
    last = &waiter.next_;
  }
  return first;
}

void stack_depot::wake(stack_waiter* served) const noexcept {
  while (served) {
    stack_waiter& waiter = *std::exchange(served, served->next_);
    const stack_ref stack = geometry_.stack(waiter.stack_);
    unpoison_memory(stack.low, stack.size());
    waiter.wake_(waiter, stack);
  }
}

}}  // namespace hocket
