#include <hocket/core/thread/seam/current.hpp>

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

running_scope::running_scope(const executor_seat& seat, context* ctx) noexcept
    : outer_seat_(std::exchange(this_thread().seat, seat)),
      outer_context_(std::exchange(this_thread().ctx, ctx)),
      outer_eager_(std::exchange(this_thread().eager, nullptr)) {}

running_scope::~running_scope() {
  thread_state& here = this_thread();
  here.seat = outer_seat_;
  here.ctx = outer_context_;
  here.eager = outer_eager_;
}

}}}  // namespace hocket::detail
