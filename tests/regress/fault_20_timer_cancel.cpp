// FAULTS 20: a timer is cancelled just when it fires (go-workflows#308, brpc#2986). One second's worth of nothing but
// that, in virtual time: each timer either fires or is taken back, never both, never neither, and its memory is gone
// the moment that it may be. Cancelled by another thread: tests/stress/time_detach.cpp, tests/model/time.
#include <hocket/base/random.hpp>

#include "unit/time/wheel_stand.hpp"

#include <doctest/doctest.h>
#include <memory>

using namespace hocket;
using namespace hocket_test;

namespace {

// Frees itself when it fires.
struct fleeting : detail::timer_node {
  int& fired;
  explicit fleeting(time_point due, int& count) : fired(count) {
    when = due;
    static constexpr detail::timer_kind rings{[](detail::timer_node& self, detail::timer_call) noexcept {
      auto* it = static_cast<fleeting*>(&self);
      ++it->fired;
      delete it;
    }};
    kind = &rings;
  }
};

}  // namespace

TEST_CASE("fault 20: a million timers cancelled at their time, a nanosecond before or one after it") {
  constexpr int rounds = 1'000'000;
  wheel_stand s;
  detail::random_engine random{20};
  int fired = 0, cancelled = 0, early = 0, late = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto now = s.time.now();
    const duration wait{1 + (random() >> (44 + random.below(20)))};
    auto* node = new fleeting(now + wait, fired);
    s.wheel.attach(*node);
    const int offset = static_cast<int>(random.below(3)) - 1;
    const bool turns_first = random.below(2) == 0;
    const int before = fired;
    s.time.set(now + wait + duration{offset});
    if (turns_first) s.wheel.advance();
    if (fired == before) {
      if (turns_first && offset >= 0) ++late;
      if (s.wheel.detach(*node)) {
        ++cancelled;
        delete node;
      }
    } else if (offset < 0) {
      ++early;
    }
    if (!turns_first) s.wheel.advance();
  }
  CHECK(fired + cancelled == rounds);
  CHECK(early == 0);
  CHECK(late == 0);
  CHECK(fired > rounds / 4);
  CHECK(cancelled > rounds / 4);
  CHECK(s.wheel.empty());
}

TEST_CASE("fault 20: of two timers of one nanosecond the first takes the second back, which frees it") {
  constexpr int rounds = 100'000;
  wheel_stand s;
  int fired = 0, cancelled = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto due = s.time.now() + duration{1 + i % 200};
    auto second = std::make_unique<fleeting>(due, fired);
    acting_timer first(due, [&] {
      cancelled += s.wheel.detach(*second);
      second.reset();
    });
    s.wheel.attach(first);
    s.wheel.attach(*second);
    s.turn_at(due);
  }
  CHECK(cancelled == rounds);
  CHECK(fired == 0);
}
