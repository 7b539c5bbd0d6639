// The start of a task that goes through the queue of this thread's executor, because its chain has used its budget up.
#pragma once
#include <hocket/core/thread/seam/frame.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Until the task begins, task_bit::start_queued is set. False: there is no memory for that; nothing was queued.
[[nodiscard]] bool queue_start(std::coroutine_handle<> task) noexcept;

}}}  // namespace hocket::detail
