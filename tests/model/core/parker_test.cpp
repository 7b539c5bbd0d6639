// A parker under every schedule: no wake is lost, whatever its moment, and each brings what its waker did.
#include <hocket/core/parker.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

namespace {

using hocket::futex_parker;
using hocket::time_point;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket_test::kept;
namespace model = hocket::model;

// Two wakers, each with a message, and a sleeper that may leave when it has both. `told` is relaxed, so
// a message arrives by the wake or not at all.
template <class Parker, bool Timed>
void two_wake_one(execution& run) {
  kept<Parker> bed;
  atomic<std::uint32_t> told[2];
  run.thread("sleeper", [&] {
    auto knows = [&](int i) { return told[i].load(std::memory_order_relaxed) != 0; };
    int wakes = 0;
    while (!knows(0) || !knows(1)) {
      wakes += bed->park(Timed ? time_point{} : time_point::max());
      require(wakes <= 2, "woken more often than there were wakes");
    }
  });
  for (int i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "waker a" : "waker b", [&, i] {
      told[i].store(1, std::memory_order_relaxed);
      bed->wake();
    });
  }
  run.join();
  bed.free();
}

// The parker is destroyed as soon as it has returned.
void woken_and_gone(execution& run) {
  kept<futex_parker> bed;
  var<int> reason{0, "reason"};
  run.thread("sleeper", [&] {
    require(bed->park(time_point::max()));
    require(reason == 1);
    bed.free();
  });
  run.thread("waker", [&, at = &*bed] {
    reason = 1;
    at->wake();
  });
  run.join();
}

// A second wake covers the first one's value, and with it what the first waker did.
struct storing_parker {
  atomic<std::uint32_t> woken{0};
  bool park(time_point) noexcept {
    while (woken.exchange(0, std::memory_order_acquire) == 0) hocket::detail::futex_wait(woken, 0);
    return true;
  }
  void wake() noexcept {
    woken.store(1, std::memory_order_release);
    hocket::detail::futex_wake_one(woken);
  }
};

// A wake between the look and the reset is forgotten.
struct resetting_parker {
  atomic<std::uint32_t> woken{0};
  bool park(time_point) noexcept {
    while (woken.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(woken, 0);
    woken.store(0, std::memory_order_relaxed);
    return true;
  }
  void wake() noexcept {
    if (woken.exchange(1, std::memory_order_release) == 0) hocket::detail::futex_wake_one(woken);
  }
};

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};

}  // namespace

TEST_CASE("no wake of two is lost, nor what the wakers did") {
  verdict::none(bounds, two_wake_one<futex_parker, false>);
  verdict::none(bounds, two_wake_one<futex_parker, true>);
}

TEST_CASE("a parker may be destroyed as soon as it returns") { verdict::none(bounds, woken_and_gone); }

TEST_CASE("every ordering of a parker is needed") {
  CHECK(model::unneeded_orderings({.preemptions = 2, .stale_reads = 2}, two_wake_one<futex_parker, false>) == "");
  CHECK(model::unneeded_orderings({.preemptions = 2, .stale_reads = 2}, woken_and_gone) == "");
}

TEST_CASE("a parker whose wake stores, or whose park looks and then resets, loses what a waker did") {
  verdict::found(bug::lost_wakeup, bounds, two_wake_one<storing_parker, false>);
  verdict::found(bug::lost_wakeup, bounds, two_wake_one<resetting_parker, false>);
}
