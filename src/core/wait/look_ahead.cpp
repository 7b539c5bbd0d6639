// Prefetches the memory of waits that end soon. If thousands wait, that memory has left the caches.
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

using namespace detail;

// The frame, and the spawned coroutine. Both addresses are constant since the wait was armed, and no memory is read
// there.
void suspension::prefetch_wakeup() const noexcept {
  prefetch_lines<3>(handle.address());
  prefetch_lines<6>(ctx_);
}

// Also the source of the wait: the alarm is attached after all registrations, so first_ is constant.
void suspension::alarm_prefetch(const timer_node& self) noexcept {
  const auto& wait = static_cast<const suspension&>(self);
  if (wait.first_) hocket::detail::prefetch(wait.first_->source_);
  wait.prefetch_wakeup();
}

void waiter::prefetch_wakeup() const noexcept { wait_->prefetch_wakeup(); }

}}}  // namespace hocket::primitive
