#include <hocket/core/thread/seam/current.hpp>

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

running_scope::running_scope(const executor_binding& binding, context* ctx) noexcept
    : outer_binding_(std::exchange(this_thread().binding, binding)),
      outer_context_(std::exchange(this_thread().ctx, ctx)),
      outer_eager_(std::exchange(this_thread().eager, nullptr)) {}

running_scope::~running_scope() {
  thread_state& thread = this_thread();
  thread.binding = outer_binding_;
  thread.ctx = outer_context_;
  thread.eager = outer_eager_;
}

}}}  // namespace hocket::detail
