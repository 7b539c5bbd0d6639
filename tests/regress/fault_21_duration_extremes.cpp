// FAULTS 21: duration::max, negative durations and now() + max overflow must saturate, never wrap.
#include <hocket/base/clock.hpp>
#include <hocket/base/random.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr time_point at(std::int64_t ns) { return time_point{duration{ns}}; }
constexpr auto most = std::numeric_limits<std::int64_t>::max();
constexpr auto least = std::numeric_limits<std::int64_t>::min();

static_assert(deadline_after(at(0), duration::max()) == time_point::max());
static_assert(deadline_after(at(1), duration::max()) == time_point::max());
static_assert(deadline_after(at(-1), duration::max()) == at(most - 1));
static_assert(deadline_after(at(0), duration::min()) == time_point::min());
static_assert(deadline_after(at(-1), duration::min()) == time_point::min());
static_assert(deadline_after(at(7), -3ns) == at(4));
static_assert(deadline_after(at(0), std::chrono::hours::max()) == time_point::max());
static_assert(deadline_after(at(0), std::chrono::hours::min()) == time_point::min());
static_assert(deadline_after(at(0), std::chrono::milliseconds::max()) == time_point::max());

// How far the reference below may be off at the ends: long double holds every int64 exactly on x86-64, but Valgrind
// computes it as a double.
std::int64_t reference_error() {
  volatile long double end = 9223372036854775807.0L;
  volatile long double before = end - 1.0L;
  return before < end ? 0 : 1024;
}

// The reference: long double has every product's magnitude.
template <class Rep, class Period>
void compare_with_exact(std::chrono::duration<Rep, Period> time) {
  const long double exact = std::ceil(static_cast<long double>(time.count()) * static_cast<long double>(Period::num) /
                                      static_cast<long double>(Period::den) * 1e9L);
  const duration got = detail::to_nanoseconds(time);
  CAPTURE(got.count());
  if (exact >= 9223372036854775807.0L) CHECK(got.count() >= most - reference_error());
  else if (exact <= -9223372036854775808.0L) CHECK(got.count() <= least + reference_error());
  else CHECK(std::fabs(static_cast<long double>(got.count()) - exact) <= 1.0L + std::fabs(exact) * 1e-15L);
}

template <class Rep>
void all_periods(Rep count) {
  compare_with_exact(std::chrono::duration<Rep, std::pico>{count});
  compare_with_exact(std::chrono::duration<Rep, std::nano>{count});
  compare_with_exact(std::chrono::duration<Rep, std::micro>{count});
  compare_with_exact(std::chrono::duration<Rep>{count});
  compare_with_exact(std::chrono::duration<Rep, std::ratio<3600>>{count});
  compare_with_exact(std::chrono::duration<Rep, std::ratio<1, 3>>{count});  // audio and video frames
  compare_with_exact(std::chrono::duration<Rep, std::ratio<31556952>>{count});
}

}  // namespace

TEST_CASE("fault 21: extremes of every count type and period saturate") {
  for (auto n : {least, least + 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, most - 1, most}) all_periods(n);
  for (auto n : {std::numeric_limits<std::int32_t>::min(), -1, 0, 1, std::numeric_limits<std::int32_t>::max()}) {
    all_periods(n);
  }
  for (auto n : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) all_periods(n);
  for (auto n : {0.0, -0.0, 0.1, -0.1, 1e300, -1e300, std::numeric_limits<double>::infinity(),
                 -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min()}) {
    all_periods(n);
  }
  CHECK(detail::to_nanoseconds(std::chrono::duration<float>{1.5f}) == 1500ms);
  CHECK(detail::to_nanoseconds(std::chrono::duration<double>{std::nan("")}) == 0ns);
}

TEST_CASE("fault 21: random durations agree with exact arithmetic") {
  detail::random_engine random{21};
  for (int i = 0; i < 20'000; ++i) {
    // Every magnitude is equally likely.
    all_periods(static_cast<std::int64_t>(random()) >> random.below(64));
    all_periods(random() >> random.below(64));
  }
}

TEST_CASE("fault 21: a deadline is never before now for a wait that is not negative, and the sum never wraps") {
  detail::random_engine random{2121};
  for (int i = 0; i < 20'000; ++i) {
    const auto now = at(static_cast<std::int64_t>(random()) >> random.below(64));
    const duration wait{static_cast<std::int64_t>(random()) >> random.below(64)};
    const auto when = deadline_after(now, wait);
    if (wait >= 0ns) CHECK(when >= now);
    else CHECK(when < now + (now == time_point::min() ? 1ns : 0ns));
    if (when != time_point::max() && when != time_point::min()) CHECK(when - now == wait);
  }
}

TEST_CASE("fault 21: a fraction of a nanosecond waits for a whole one") {
  CHECK(detail::to_nanoseconds(std::chrono::duration<int, std::pico>{1}) == 1ns);
  CHECK(detail::to_nanoseconds(std::chrono::duration<int, std::pico>{-1}) == 0ns);
  CHECK(detail::to_nanoseconds(std::chrono::duration<double, std::nano>{0.25}) == 1ns);
  CHECK(detail::to_nanoseconds(std::chrono::duration<double, std::nano>{-0.25}) == 0ns);
}
