#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/frame.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void leave_forked_call() noexcept {
  static constexpr coroutine_header no_child{};
  thread_state& thread = this_thread();
  if (thread.forked_call) thread.forked_call = &no_child;
}

}}}  // namespace hocket::detail
