#include <hocket/coro/task.hpp>

#include <hocket/core/context.hpp>
#include <hocket/core/scheduled.hpp>
#include <hocket/coro/detail/fork_group.hpp>

namespace hocket::inline HOCKET_ABI::detail {
namespace {

// A parent with a home of its own, a fiber, which may go on here all the same.
bool roams_to_here(const coroutine_header& parent) noexcept {
  const scheduled* const strand = parent.ctx ? parent.ctx->strand() : nullptr;
  return strand && strand->roams() && this_thread().seat.pool == &strand->home();
}

}  // namespace

task_chain::handle task_chain::start_alone(handle self, handle parent) noexcept {
  continuation.handle = parent;
  continuation.home = current_executor();
  flags = task_flag::parent_homed;
  ctx = &current_context();
  budget = transfer_budget;
  return self;
}

task_chain::handle task_chain::start_queued(handle self, handle& stash) noexcept {
  budget = transfer_budget;
  executor* here = current_executor();
  if (!here) return self;
  stash = std::exchange(continuation.handle, self);
  reserved |= task_bit::start_queued;
  here->post(continuation);
  return std::noop_coroutine();
}

task_chain::handle task_chain::end_slowly() noexcept {
  if (flags & task_flag::forked) return fork_group::ended(*this);
  const bool exhausted = budget == 0;
  const handle parent = continuation.handle;
  if (flags & header_flag::parent_has_header) {
    header_of(parent).budget = exhausted ? transfer_budget : static_cast<std::uint16_t>(budget - 1);
  }
  executor* here = current_executor();
  executor* home = continuation.home ? continuation.home : here;
  if (home != here && (flags & header_flag::parent_has_header) && roams_to_here(header_of(parent))) home = here;
  if (!home || (home == here && !exhausted)) return parent;
  reserved |= task_bit::parent_queued;
  home->post(continuation);  // from here on the parent may run and destroy this frame
  return std::noop_coroutine();
}

void expect_droppable(const coroutine_header& task) noexcept {
  debug_expects(!(task.reserved & (task_bit::start_queued | task_bit::parent_queued)),
                "a task was destroyed that stands in a run queue", "let its executor run it to its end first");
  debug_expects(task.continuation.handle || leaving_by_failure(), "a task was destroyed without being awaited",
                "co_await it (await it in a fiber), or say that it is not wanted: std::move(task).discard()");
}

}  // namespace hocket::inline HOCKET_ABI::detail
