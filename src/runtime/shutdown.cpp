// The end of a runtime, in order.
#include <hocket/base/fatal.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/coroutine_snapshot.hpp>

#include "runtime/pool.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

time_point after(duration time) noexcept { return deadline_after(steady_clock().now(), time); }

std::size_t ended(std::size_t before, std::size_t now) noexcept { return before - std::min(before, now); }

}  // namespace

void runtime::state::refuse(bool children) noexcept {
  const gate wanted = children ? gate::closed : gate::children_only;
  // ORDER: relaxed, pairs with nothing: the compare-exchange below verifies it, so it changes in this direction only.
  gate seen = admits.load(std::memory_order_relaxed);
  // ORDER: relaxed, pairs with the loads in admit() and leave(): a spawn that comes at the same time is one of those
  // that were there.
  while (seen < wanted &&
         !admits.compare_exchange_weak(seen, wanted, std::memory_order_relaxed, std::memory_order_relaxed)) {
  }
  heavy_fence();
}

bool runtime::state::wait_until(bool (state::*condition)() const noexcept, time_point until) noexcept {
  bool in_time = true;
  for (;;) {
    // ORDER: acquire, pairs with the fetch_add in notify_end().
    const std::uint32_t before = ends.load(std::memory_order_acquire);
    if ((this->*condition)()) return true;
    if (!in_time) return false;
    in_time = futex_wait_until(ends, before, until);
  }
}

shutdown_report runtime::shutdown(const shutdown_options& options) {
  state& all = *state_;
  expects(!all.is_inside(), "a runtime was shut down by one of its own coroutines, or by a blocking call of one",
          "it would wait for itself: shut it down on another thread", all.name);
  expect_threads();
  const auto dump = [&](bool only_circles) noexcept {
    if (options.report >= 0) all.dump(options.report, only_circles);
  };
  const auto snapshot = [&]() noexcept {
    return options.stopped ? coroutine_snapshot(*this, nullptr) : coroutine_snapshot();
  };
  shutdown_report report;
  all.refuse(false);
  const std::size_t first = all.others();
  const bool drained = all.wait_until(&state::is_drained, after(options.drain));
  const std::size_t second = all.others();
  report.drained = ended(first, second);
  if (all.is_empty()) return report;

  const std::size_t daemons = all.daemons.size();
  const coroutine_snapshot before_cancel = snapshot();
  if (drained) {
    all.daemon_group.cancel();
  } else {
    dump(true);
    all.stop.request(stop_level::cancel);
  }
  const bool cancelled = all.wait_until(&state::is_empty, after(options.cancel));
  const std::size_t third = all.others();
  const std::size_t stubborn_daemons = all.daemons.size();
  report.cancelled = ended(second, third);
  report.daemons.cancelled = ended(daemons, stubborn_daemons);
  const coroutine_snapshot before_kill = snapshot();
  if (options.stopped) before_cancel.add_ended(before_kill, shutdown_step::cancel, *options.stopped);
  if (cancelled) return report;

  all.refuse(true);
  dump(false);
  all.stop.request(stop_level::kill);
  const bool killed = all.wait_until(&state::is_empty, after(options.kill));
  report.remaining = all.others();
  report.killed = ended(third, report.remaining);
  report.daemons.remaining = all.daemons.size();
  report.daemons.killed = ended(stubborn_daemons, report.daemons.remaining);
  const coroutine_snapshot remaining = snapshot();
  if (options.stopped) before_kill.add_ended(remaining, shutdown_step::kill, *options.stopped);
  if (options.stopped) remaining.add_remaining(*options.stopped);
  if (!killed) dump(false);
  return report;
}

}}  // namespace hocket
