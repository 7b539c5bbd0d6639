// A million timers at once: counts, not times.
#include <hocket/base/random.hpp>

#include "unit/time/wheel_stand.hpp"

#include <doctest/doctest.h>
#include <memory>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t million = 1'000'000;

struct counted : detail::timer_node {
  inline static std::size_t fired = 0;
  inline static time_point latest{};
  inline static bool in_order = true;

  counted() {
    static constexpr detail::timer_kind rings{[](detail::timer_node& self, detail::timer_call) noexcept {
      ++fired;
      if (self.when < latest) in_order = false;
      latest = self.when;
    }};
    kind = &rings;
  }
  static void reset() {
    fired = 0;
    latest = time_point::min();
    in_order = true;
  }
};

struct looked_at : detail::timer_node {
  bool looked = false;
  looked_at() {
    static constexpr detail::timer_kind rings{
        [](detail::timer_node& self, detail::timer_call) noexcept { ++counted::fired, seen += of(self).looked; },
        nullptr, [](const detail::timer_node& self) noexcept { of(self).looked = true; }};
    kind = &rings;
  }
  static looked_at& of(const detail::timer_node& self) {
    return const_cast<looked_at&>(static_cast<const looked_at&>(self));
  }
  inline static std::size_t seen = 0;
};

}  // namespace

TEST_CASE("a million timers are attached and cancelled") {
  counted::reset();
  wheel_stand s;
  auto all = std::make_unique<counted[]>(million);
  detail::random_engine random{1};
  for (std::size_t i = 0; i < million; ++i) {
    all[i].when = at(static_cast<std::int64_t>(random() >> random.below(64) >> 1));
    s.wheel.attach(all[i]);
  }
  CHECK(s.wheel.size() == million);
  std::size_t out = 0;
  for (std::size_t i = 0; i < million; ++i) out += s.wheel.detach(all[i]);
  CHECK(out == million);
  CHECK(s.wheel.empty());
  CHECK(s.wheel.next_expiry() == time_point::max());
  CHECK(counted::fired == 0);
}

TEST_CASE("a million timers of the next minute expire, each once, in order") {
  counted::reset();
  wheel_stand s;
  auto all = std::make_unique<counted[]>(million);
  detail::random_engine random{2};
  for (std::size_t i = 0; i < million; ++i) {
    all[i].when = at(static_cast<std::int64_t>(random() % 60'000'000'000u));
    s.wheel.attach(all[i]);
  }
  for (int second = 1; second <= 60; ++second) CHECK_FALSE(s.turn_at(at(second * 1'000'000'000LL)));
  CHECK(counted::fired == million);
  CHECK(counted::in_order);
  CHECK(s.wheel.empty());
}

TEST_CASE("a million timers of one nanosecond expire in turns of a thousand") {
  counted::reset();
  wheel_stand s;
  auto all = std::make_unique<counted[]>(million);
  for (std::size_t i = 0; i < million; ++i) {
    all[i].when = at(30'000'000'000);
    s.wheel.attach(all[i]);
  }
  std::size_t turns = 1;
  s.time.set(at(30'000'000'000));
  for (std::size_t before = 0; s.wheel.advance(1000); ++turns) {
    CHECK(counted::fired - before <= 1000);
    before = counted::fired;
  }
  CHECK(counted::fired == million);
  CHECK(turns >= million / 1000);
  CHECK(turns <= 12 * million / 1000);  // each was fired, and moved at most once per level
}

TEST_CASE("where thousands are attached, the memory of those that come soon is asked for, before they fire") {
  for (const std::size_t count : {std::size_t{100}, std::size_t{10'000}}) {
    CAPTURE(count);
    counted::reset();
    looked_at::seen = 0;
    wheel_stand s;
    auto all = std::make_unique<looked_at[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
      all[i].when = at(static_cast<std::int64_t>(1'000'000 + 1'000 * i));  // a few in each slot that is opened
      s.wheel.attach(all[i]);
    }
    for (std::size_t i = 0; i < count; ++i) s.turn_at(at(static_cast<std::int64_t>(1'000'000 + 1'000 * i)));
    CHECK(counted::fired == count);
    // The last 4,000 are no thousands any more.
    if (count > 4'096) CHECK(looked_at::seen > count / 2);
    else CHECK(looked_at::seen == 0);
  }
}
