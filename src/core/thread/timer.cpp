#include <hocket/base/clock.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/timer.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

time_point time_here() noexcept {
  executor* const current = current_executor();
  const timer_service* const timers = current ? current->timers() : nullptr;
  return timers ? timers->now() : steady_clock().now();
}

time_point deadline_by_timers(executor& home, duration within, const char* subject,
                              const std::source_location& at) noexcept {
  timer_service* timers = home.timers();
  expects(timers != nullptr, "a deadline was given for an executor without timers", "use it on a loop or a runtime",
          subject, at);
  return deadline_after(timers->now(), within);
}

}}}  // namespace hocket::detail
