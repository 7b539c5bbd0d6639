// FAULTS 22: timers longer than a wheel's range, or on the border of a level, that fire early (rpc-perf#180,
// wahern/timeout#30). The clock jumps over, to and next to every power of two.
#include "unit/time/wheel_stand.hpp"

#include <deque>
#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t power(int k) { return std::int64_t{1} << k; }

// Times around 2^k and -2^k and around their multiples.
std::vector<time_point> around(int k) {
  std::vector<time_point> all;
  for (std::int64_t factor : {-3, -2, -1, 1, 2, 3}) {
    std::int64_t border = 0;
    if (__builtin_mul_overflow(factor, power(k), &border)) continue;
    for (duration offset : {-1ns, 0ns, 1ns}) all.push_back(deadline_after(at(border), offset));
  }
  return all;
}

// A timer due at `due`, attached at `start`; the clock stands at `stop` in between.
void one_timer(time_point start, time_point stop, time_point due) {
  wheel_stand s(start);
  test_timer a(due);
  s.wheel.attach(a);
  CHECK(s.wheel.next_expiry() == due);
  CHECK_FALSE(s.turn_at(stop));
  CHECK(a.fired == 0);
  CHECK_FALSE(s.turn_at(due - 1ns));
  CHECK(a.fired == 0);
  CHECK_FALSE(s.turn_at(due));
  CHECK(a.fired == 1);
}

}  // namespace

TEST_CASE("fault 22: a timer on any border is exact, from any side of any other border") {
  for (int k = 0; k < 63; ++k) {
    for (int j = 0; j < 63; j += 5) {
      CAPTURE(k);
      CAPTURE(j);
      for (auto due : around(k)) {
        for (auto start : around(j)) {
          if (start >= due) continue;
          const auto half = at(start.time_since_epoch().count() / 2 + due.time_since_epoch().count() / 2);
          one_timer(start, start, due);
          if (half > start && half < due) one_timer(start, half, due);
        }
      }
    }
  }
}

TEST_CASE("fault 22: a clock that doubles fires each timer in the jump that passes it, in order") {
  for (std::int64_t start : {std::int64_t{0}, std::int64_t{-1}, -power(62), power(61) + 12345}) {
    CAPTURE(start);
    std::vector<int> log;
    wheel_stand s(at(start));
    std::deque<test_timer> all;
    for (int k = 0; k < 62; ++k) {
      for (std::int64_t offset : {-1, 0, 1}) {
        all.emplace_back(at(start + power(k) + offset), static_cast<int>(all.size()), &log);
      }
    }
    for (auto& a : all) s.wheel.attach(a);
    for (int k = 0; k < 62; ++k) {
      s.turn_at(at(start + power(k)));
      for (auto& a : all) CHECK(a.fired == (a.when <= s.time.now() ? 1 : 0));
    }
    s.turn_at(at(start + power(61) + 1));
    CHECK(s.wheel.empty());
    // 1 - 1, 1, 1 + 1, 2 - 1, 2, ...: the times of the first few repeat; the order of times, then of attach, must not.
    for (std::size_t i = 1; i < log.size(); ++i) {
      const auto& left = all[static_cast<std::size_t>(log[i - 1])];
      const auto& right = all[static_cast<std::size_t>(log[i])];
      CHECK((left.when < right.when || (left.when == right.when && left.number < right.number)));
    }
  }
}

TEST_CASE("fault 22: a year in one jump fires a timer of each nanosecond of its last and first 200") {
  constexpr std::int64_t year = 31'556'952'000'000'000;
  wheel_stand s;
  std::deque<test_timer> all;
  for (std::int64_t i = 1; i <= 200; ++i) {
    s.wheel.attach(all.emplace_back(at(i)));
    s.wheel.attach(all.emplace_back(at(year - 200 + i)));
    s.wheel.attach(all.emplace_back(at(year + i)));
  }
  CHECK_FALSE(s.turn_at(at(year)));
  int fired = 0;
  for (auto& a : all) fired += a.fired;
  CHECK(fired == 400);
  CHECK(s.wheel.next_expiry() == at(year + 1));
  CHECK_FALSE(s.turn_at(at(2 * year)));
  CHECK(s.wheel.empty());
}
