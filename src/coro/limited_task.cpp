#include <hocket/core/detail/timer.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/coro/limited_task.hpp>

#include <algorithm>

namespace hocket::inline HOCKET_ABI::detail {

namespace {

// The time by the clock of the current loop or worker.
time_point now_here() noexcept {
  executor* const here = current_executor();
  const timer_service* const timers = here ? here->timers() : nullptr;
  return timers ? timers->now() : steady_clock().now();
}

}  // namespace

context_ptr limited_context(time_point until, duration within) {
  context& outer = current_context();
  const time_point limit = within == duration::max() ? until : deadline_after(now_here(), within);
  return context::child_with(outer, {outer.stop(), std::min(outer.deadline(), limit), outer.bindings()});
}

}  // namespace hocket::inline HOCKET_ABI::detail
