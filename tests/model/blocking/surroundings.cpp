// The system calls of a blocking_pool: under the model they do nothing.
#include <hocket/base/seam/forks.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/runtime/detail/signal_count.hpp>

#include "runtime/platform/thread_name.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void name_this_thread(const char*, std::size_t) noexcept {}
void set_mask_of_library_thread() noexcept {}
exit_hook_scope::exit_hook_scope() noexcept = default;
exit_hook_scope::~exit_hook_scope() = default;

}}}  // namespace hocket::detail
