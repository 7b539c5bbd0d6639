#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/coro/timeout_task.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

context_ptr limited_context(time_point deadline, duration timeout) {
  context& outer = current_context();
  const time_point limit = timeout == duration::max() ? deadline : deadline_after(time_here(), timeout);
  return context::child_with(outer, {outer.stop(), std::min(outer.deadline(), limit), outer.bindings()});
}

}}}  // namespace hocket::detail
