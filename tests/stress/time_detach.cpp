// FAULTS 16 and 20 by brute force: a wait with a deadline on the one thread, which turns its wheel, and a grant from
// the other, just when the deadline passes. Each wait ends exactly once, and is freed by whoever lets go of it last.
// Then again with a third thread, which helps the owner as if the owner were stuck.
//
// The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
#include <hocket/base/random.hpp>
#include <hocket/core/wait/detail/claim.hpp>

#include "unit/time/wheel_stand.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

struct tally {
  std::atomic<int> granted{0}, timed_out{0}, freed{0};
  std::atomic<int> fired{0};  // by the owner alone, but TSan shall not take that for the reason of its silence
  std::atomic<int> fired_elsewhere{0};
};

// Goes on by itself, as far as a wheel knows, and is read by several threads.
class shared_clock final : public clock_source {
 public:
  explicit shared_clock(time_point start) noexcept : time_(start) {}
  time_point now() const noexcept override { return time_.now(); }
  bool is_free_running() const noexcept override { return true; }
  void advance(duration by) noexcept { time_.advance(by); }

 private:
  manual_clock time_;
};
using shared_stand = basic_wheel_stand<shared_clock>;

// What core's suspension does with one registration at a primitive and one at the wheel.
class timed_wait : detail::timer_node {
 public:
  // Due at a time, or `in` from now; the other of the two is never.
  timed_wait(detail::timer_wheel& wheel, time_point due, duration in, bool anywhere, tally& counts)
      : wheel_(wheel), counts_(counts) {
    static constexpr detail::timer_kind kinds[]{
        {&timed_wait::ring_at_home}, {&timed_wait::ring, [](const auto&, const auto&) noexcept { return true; }}};
    when = due;
    set_after(in);
    kind = &kinds[anywhere];
    claim_.arm();
    claim_.hold();  // the granting thread
    claim_.hold();  // the timer
    if (in == duration::max()) wheel.attach(*this);
    else wheel.attach_after(*this);
    if (!claim_.commit()) let_go(1);
  }
  // The other thread.
  void grant() noexcept {
    std::uint32_t holds = 1;
    if (claim_.settle(detail::wait_end::granted) == detail::settlement::won) {
      ++counts_.granted;
      if (wheel_.detach(*this)) ++holds;
    }
    let_go(holds);
  }

 private:
  static void ring_at_home(detail::timer_node& self, detail::timer_call) noexcept {
    CHECK(static_cast<timed_wait&>(self).wheel_.fire_here());
    ring(self, detail::timer_call::due);
  }
  static void ring(detail::timer_node& self, detail::timer_call) noexcept {
    auto& it = static_cast<timed_wait&>(self);
    ++it.counts_.fired;
    if (!it.wheel_.fire_here()) ++it.counts_.fired_elsewhere;
    if (it.claim_.settle(detail::wait_end::timed_out) != detail::settlement::lost) ++it.counts_.timed_out;
    it.let_go(1);
  }
  void let_go(std::uint32_t holds) noexcept {
    if (!claim_.drop(holds)) return;
    ++counts_.freed;
    delete this;
  }

  detail::timer_wheel& wheel_;
  tally& counts_;
  detail::claim claim_;
};

std::uint64_t chosen_seed() {
  if (const char* given = std::getenv("HOCKET_STRESS_SEED")) return std::strtoull(given, nullptr, 10);
  return detail::random_seed();
}

// Slots through which waits get to the granting thread.
using counter = std::array<std::atomic<timed_wait*>, 64>;

void grant_all(counter& waits, const std::atomic<bool>& over, std::uint64_t seed) {
  detail::random_engine random{seed};
  while (!over.load())
    if (timed_wait* taken = waits[random.below(64)].exchange(nullptr)) taken->grant();
}

void help(detail::timer_wheel& wheel, const std::atomic<bool>& over) {
  while (!over.load()) {
    wheel.assist();
    std::this_thread::yield();
  }
}

void race(bool helped) {
  constexpr int least_rounds = 100'000;
  const auto seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=" << seed);
  tally counts;
  counter waits{};
  shared_stand s;
  std::atomic<bool> over{false}, all_granted{false};
  std::thread helping;
  if (helped) helping = std::thread([&] { help(s.wheel, over); });
  std::thread granting([&] { grant_all(waits, all_granted, seed); });
  detail::random_engine random{seed + 1};
  const auto turn = [&] {
    if (s.waker.take()) s.wheel.reclaim();
    if (random.below(2) == 0) s.time.advance(duration{random.below(8)});
    s.wheel.advance(random.below(4) == 0 ? 3 : detail::timer_wheel::unlimited);
  };
  // The helper must have fired a timer, however seldom the system runs it.
  const bool must_help = helped && detail::has_asymmetric_fences();
  int begun = 0;
  while (begun < least_rounds || (must_help && counts.fired_elsewhere.load() == 0)) {
    auto& place = waits[random.below(64)];
    if (place.load() == nullptr) {
      // A few can only be granted, and a few are late before the other thread sees them, whatever the schedule.
      const auto kind = random.below(64);
      const duration time = kind == 0 ? std::chrono::hours(1) : duration{random() >> (48 + random.below(16))};
      const bool from_now = kind != 1 && random.below(2) == 0;
      const time_point due = from_now ? time_point::max() : deadline_after(s.time.now(), kind == 1 ? duration{} : time);
      const bool anywhere = random.below(2) == 0;
      auto* wait = new timed_wait(s.wheel, due, from_now ? time : duration::max(), anywhere, counts);
      if (kind == 1) s.wheel.advance(detail::timer_wheel::unlimited);
      place.store(wait);
      ++begun;
    }
    turn();
  }
  while (counts.freed.load() < begun) turn();
  all_granted = true;
  granting.join();
  over = true;
  if (helped) helping.join();
  CHECK(counts.granted.load() + counts.timed_out.load() == begun);
  CHECK(counts.granted.load() > 0);
  CHECK(counts.timed_out.load() > 0);
  CHECK(counts.fired.load() == begun);  // nobody detaches on the owner's thread here
  CHECK(s.wheel.empty());
  CHECK((counts.fired_elsewhere.load() != 0) == must_help);
}

}  // namespace

TEST_CASE("faults 16, 20: a deadline and a grant from another thread race; each wait ends once and is freed once") {
  race(false);
}

TEST_CASE("faults 16, 20: the same while another thread helps an owner that may be stuck") {
  detail::prepare_asymmetric_fences();
  race(true);
}
