// The end of a runtime, in order.
#include <hocket/base/fatal.hpp>
#include <hocket/runtime/runtime.hpp>

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

bool runtime::state::wait_until_empty(time_point until) noexcept {
  bool in_time = true;
  for (;;) {
    // ORDER: acquire, pairs with the fetch_add in leave().
    const std::uint32_t seen = ends.load(std::memory_order_acquire);
    if (live() == 0) return true;
    if (!in_time) return false;
    in_time = futex_wait_until(ends, seen, until);
  }
}

shutdown_report runtime::shutdown(const shutdown_options& options) {
  state& all = *state_;
  expects(!all.is_inside(), "a runtime was shut down by one of its own coroutines, or by a blocking call of one",
          "it would wait for itself: shut it down on another thread", all.name);
  expect_threads();
  const auto report = [&](bool only_circles) noexcept {
    if (options.report >= 0) all.dump(options.report, only_circles);
  };
  shutdown_report told;
  all.refuse(false);
  const std::size_t first = all.live();
  const bool drained = all.wait_until_empty(after(options.drain));
  const std::size_t second = all.live();
  told.drained = ended(first, second);
  if (drained) return told;

  report(true);
  all.stop.request(stop_level::cancel);
  const bool cancelled = all.wait_until_empty(after(options.cancel));
  const std::size_t third = all.live();
  told.cancelled = ended(second, third);
  if (cancelled) return told;

  all.refuse(true);
  report(false);
  all.stop.request(stop_level::kill);
  const bool killed = all.wait_until_empty(after(options.kill));
  told.remaining = all.live();
  told.killed = ended(third, told.remaining);
  if (!killed) report(false);
  return told;
}

}}  // namespace hocket
