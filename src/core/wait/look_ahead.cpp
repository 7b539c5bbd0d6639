// The memory of waits that end soon, asked for early. Where thousands wait, it has left the caches.
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

using namespace detail;

// The frame, and the coroutine as it was spawned. Both addresses are there since the wait was armed, and nothing is
// read at them.
void suspension::prefetch_wakeup() const noexcept {
  prefetch_lines<3>(handle.address());
  prefetch_lines<6>(ctx_);
}

// The source of the wait, too: the alarm is attached after all registrations, so first_ does not change any more.
void suspension::alarm_prefetch(const timer_node& self) noexcept {
  const auto& wait = static_cast<const suspension&>(self);
  if (wait.first_) hocket::detail::prefetch(wait.first_->source_);
  wait.prefetch_wakeup();
}

void waiter::prefetch_wakeup() const noexcept { wait_->prefetch_wakeup(); }

}}}  // namespace hocket::primitive
