#include <hocket/manager/detail/managed_wait.hpp>
#include <manager/manager_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void managed_end::begin(suspension& wait, waiter& entry) noexcept {
  hold();
  entry.resource = &kind_;
  core_->begin_wait(id_, wait, entry, error_);
}

bool managed_join::try_now() noexcept {
  deadlock_ = core_->runs_here();
  return deadlock_ || core_->is_empty();
}
void managed_join::begin(suspension& wait, waiter& entry) noexcept {
  hold();
  core_->begin_join(wait, entry);
}

}}}  // namespace hocket::detail
