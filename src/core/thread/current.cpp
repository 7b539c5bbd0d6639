#include <hocket/base/seam/logical_thread.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// If a fiber is a thread of the operating system, the logical thread has the state, followed by the first exit hook.
static_assert(sizeof(thread_state) + sizeof(thread_exit_hook*) <= logical_thread::room);

bool leaving_by_failure() noexcept { return std::uncaught_exceptions() > 0 || this_thread().early_ends != 0; }

}}}  // namespace hocket::detail
