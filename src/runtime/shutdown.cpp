// The end of a runtime, in order.
#include <hocket/base/fatal.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/coroutine_snapshot.hpp>

#include "runtime/runtime_dump.hpp"
#include "runtime/runtime_state.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

time_point after(duration time) noexcept { return deadline_after(steady_clock().now(), time); }

std::size_t ended(std::size_t before, std::size_t now) noexcept { return before - std::min(before, now); }

}  // namespace

shutdown_report runtime::shutdown(const shutdown_options& options) {
  runtime_state& all = *state_;
  expects(!all.is_inside(), "a runtime was shut down by one of its own coroutines, or by a blocking call of one",
          "it would wait for itself: shut it down on another thread", all.name);
  all.expect_threads();
  const auto dump = [&](bool only_circles) noexcept {
    if (options.report >= 0) runtime_dump(all).dump(options.report, only_circles);
  };
  const auto snapshot = [&]() noexcept {
    return options.stopped ? coroutine_snapshot(*this, nullptr) : coroutine_snapshot();
  };
  shutdown_report report;
  all.refuse(false);
  const std::size_t first = all.others();
  const bool drained = all.wait_until(&admission::is_drained, after(options.drain));
  const std::size_t second = all.others();
  report.drained = ended(first, second);
  if (all.is_empty()) return report;

  const std::size_t daemons = all.daemons();
  const coroutine_snapshot before_cancel = snapshot();
  if (drained) {
    all.daemon_group.cancel();
  } else {
    dump(true);
    all.stop.request(stop_level::cancel);
  }
  const bool cancelled = all.wait_until(&admission::is_empty, after(options.cancel));
  const std::size_t third = all.others();
  const std::size_t stubborn_daemons = all.daemons();
  report.cancelled = ended(second, third);
  report.daemons.cancelled = ended(daemons, stubborn_daemons);
  const coroutine_snapshot before_kill = snapshot();
  if (options.stopped) before_cancel.add_ended(before_kill, shutdown_step::cancel, *options.stopped);
  if (cancelled) return report;

  all.refuse(true);
  dump(false);
  all.stop.request(stop_level::kill);
  const bool killed = all.wait_until(&admission::is_empty, after(options.kill));
  report.remaining = all.others();
  report.killed = ended(third, report.remaining);
  report.daemons.remaining = all.daemons();
  report.daemons.killed = ended(stubborn_daemons, report.daemons.remaining);
  const coroutine_snapshot remaining = snapshot();
  if (options.stopped) before_kill.add_ended(remaining, shutdown_step::kill, *options.stopped);
  if (options.stopped) remaining.add_remaining(*options.stopped);
  if (!killed) dump(false);
  return report;
}

}}  // namespace hocket
