// FAULTS 16 and 20 by brute force: a wait with a deadline on the one thread, which turns its wheel, and a grant from
// the other, just when the deadline passes. Each wait ends exactly once, and is freed by whoever lets go of it last.
//
// The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
#include <hocket/base/random.hpp>
#include <hocket/core/detail/claim.hpp>

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
};

// What core's suspension does with one registration at a primitive and one at the wheel.
class timed_wait : detail::timer_node {
 public:
  // Due at a time, or `in` from now; the other of the two is never.
  timed_wait(detail::timer_wheel& wheel, time_point due, duration in, tally& counts) : wheel_(wheel), counts_(counts) {
    when = due;
    set_after(in);
    static constexpr detail::timer_kind rings{[](detail::timer_node& self, detail::timer_call) noexcept {
      auto& it = static_cast<timed_wait&>(self);
      ++it.counts_.fired;
      if (it.claim_.settle(detail::wait_end::timed_out) != detail::settlement::lost) ++it.counts_.timed_out;
      it.let_go(1);
    }};
    kind = &rings;
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

void grant_all(counter& waits, int count, std::uint64_t seed) {
  detail::random_engine random{seed};
  for (int left = count; left > 0;) {
    if (timed_wait* taken = waits[random.below(64)].exchange(nullptr)) {
      taken->grant();
      --left;
    }
  }
}

}  // namespace

TEST_CASE("faults 16, 20: a deadline and a grant from another thread race; each wait ends once and is freed once") {
  constexpr int rounds = 100'000;
  const auto seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=" << seed);
  tally counts;
  counter waits{};
  flowing_stand s;
  std::thread granting([&] { grant_all(waits, rounds, seed); });
  detail::random_engine random{seed + 1};
  const auto turn = [&] {
    if (s.waker.take()) s.wheel.reclaim();
    if (random.below(2) == 0) s.time.advance(duration{random.below(8)});
    s.wheel.advance(random.below(4) == 0 ? 3 : detail::timer_wheel::unlimited);
  };
  for (int begun = 0; begun < rounds;) {
    auto& place = waits[random.below(64)];
    if (place.load() == nullptr) {
      // A few can only be granted, and a few are late before the other thread sees them, whatever the schedule.
      const auto kind = random.below(64);
      const duration time = kind == 0 ? std::chrono::hours(1) : duration{random() >> (48 + random.below(16))};
      const bool from_now = kind != 1 && random.below(2) == 0;
      const time_point due = from_now ? time_point::max() : deadline_after(s.time.now(), kind == 1 ? duration{} : time);
      auto* wait = new timed_wait(s.wheel, due, from_now ? time : duration::max(), counts);
      if (kind == 1) s.wheel.advance(detail::timer_wheel::unlimited);
      place.store(wait);
      ++begun;
    }
    turn();
  }
  while (counts.freed.load() < rounds) turn();
  granting.join();
  CHECK(counts.granted.load() + counts.timed_out.load() == rounds);
  CHECK(counts.granted.load() > 0);
  CHECK(counts.timed_out.load() > 0);
  CHECK(counts.fired.load() == rounds);  // nobody detaches on the owner's thread here
  CHECK(s.wheel.empty());
}
