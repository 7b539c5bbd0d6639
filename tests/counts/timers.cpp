// Operations of timers: see operations.cpp.
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/time/within.hpp>

#include "still_loop.hpp"

using hocket::spawn, hocket::task, hocket::within;
using std::size_t;

namespace counts {
namespace {

constexpr std::chrono::hours far{1};

struct far_timer : hocket::detail::timer_node {
  far_timer() noexcept {
    static constexpr hocket::detail::timer_kind rings{
        [](hocket::detail::timer_node&, hocket::detail::timer_call) noexcept {
          must(false, "a timer fired that was far away");
        }};
    kind = &rings;
  }
};
template <class Set>
void take_back(size_t k, Set set) {
  still_loop on;
  spawn(on.loop, [k, set]() -> task<void> {
    auto& timers = *hocket::current_executor()->timers();
    far_timer one;
    for (size_t i = 0; i < k; ++i) {
      set(timers, one);
      must(timers.detach(one), "a timer could not be taken back");
    }
    co_return;
  });
}
}  // namespace

void timed_wait_in_task(size_t k) {
  hocket::auto_reset_event events[2];
  still_loop on;
  for (size_t me : {size_t{0}, size_t{1}})
    spawn(on.loop, [&events, me, k]() -> task<void> {
      for (size_t i = 0; i < k / 2; ++i) {
        if (me == 0) events[1].set();
        auto set = co_await within(far, events[me].wait());
        must(set.has_value(), "a wait was not granted");
        if (me == 1) events[0].set();
      }
    });
}

// --- timers: set and taken back, in the turn in which they are set, and where they have their place in the wheel
void timer_from_now(size_t k) {
  take_back(k, [](hocket::detail::timer_service& timers, hocket::detail::timer_node& one) {
    one.when = hocket::time_point::max();
    one.set_after(far);
    timers.attach_after(one);
  });
}
void timer_at_a_time(size_t k) {
  take_back(k, [](hocket::detail::timer_service& timers, hocket::detail::timer_node& one) {
    one.when = timers.now() + far;
    timers.attach(one);
  });
}

}  // namespace counts
