// Clocks. Each part of hocket that needs the time asks a `clock_source`, so that a test or a simulation can control the
// time.
//
// Guarantees.
//   - Time points are those of std::chrono::steady_clock, in nanoseconds. They never go back.
//   - `deadline_after()` computes every deadline from a duration of the user. The sum saturates, so `duration::max()`
//     means "never", not "in the past".
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/time_point.hpp>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// A source of the current time.
class clock_source {
 public:
  // Returns the current time, never less than the result of an earlier call. Any thread may call it.
  virtual time_point now() const noexcept = 0;

  // Whether the clock advances by itself, so that the instant of a reading is not reproducible. False: the clock
  // advances only when the program advances it.
  virtual bool is_free_running() const noexcept { return false; }

 protected:
  ~clock_source() = default;
};

// Returns the machine's monotonic clock. It is never destroyed.
const clock_source& steady_clock() noexcept;

// A clock that advances only by calls of advance() and set(). Any thread may read and advance it.
class manual_clock final : public clock_source {
 public:
  explicit manual_clock(time_point start = time_point{}) noexcept : now_(start.time_since_epoch().count()) {}

  time_point now() const noexcept override;

  // Advances the clock by `step`, at most to time_point::max(). A negative `step` is a programming error.
  void advance(duration step) noexcept;

  // Sets the clock to `time`. A time before now() is a programming error.
  void set(time_point time) noexcept;

 private:
  primitive::atomic<std::int64_t> now_;
};

namespace detail {

constexpr duration saturated(bool negative) noexcept { return negative ? duration::min() : duration::max(); }

// Returns value * Num / Den, rounded up and saturated. Int is a 64-bit integer. Den is 1 for each period of whole
// nanoseconds.
template <std::intmax_t Num, std::intmax_t Den, class Int>
constexpr duration scaled(Int value) noexcept {
  static_assert(Den == 1 || Num <= std::numeric_limits<std::intmax_t>::max() / Den,
                "this clock period has no exact scale to nanoseconds: std::chrono::duration_cast to a usual one first");
  constexpr Int divisor = static_cast<Int>(Den);
  const std::int64_t rest = static_cast<std::int64_t>(value % divisor) * Num;  // less than Num * Den
  const std::int64_t part = rest / Den + (rest % Den > 0 ? 1 : 0);
  std::int64_t whole = 0;
  if (__builtin_mul_overflow(value / divisor, static_cast<std::int64_t>(Num), &whole)) return saturated(value < 0);
  if (__builtin_add_overflow(whole, part, &whole)) return saturated(value < 0);
  return duration{whole};
}

template <class Real>
constexpr duration scaled_real(Real nanoseconds) noexcept {
  // 2^63 is exact in every floating type; the greatest int64 is not.
  constexpr Real limit = static_cast<Real>(9223372036854775808.0L);
  if (nanoseconds != nanoseconds) return duration::zero();
  if (nanoseconds >= limit) return duration::max();
  if (nanoseconds < -limit) return duration::min();
  const auto whole = static_cast<std::int64_t>(nanoseconds);
  return duration{whole + (static_cast<Real>(whole) < nanoseconds ? 1 : 0)};
}

// Converts a duration to nanoseconds. Rounds up, so that a wait never ends early. Saturates at duration::min() and
// duration::max(). A NaN counts as zero.
template <class Rep, class Period>
constexpr duration to_nanoseconds(std::chrono::duration<Rep, Period> value) noexcept {
  static_assert(std::is_arithmetic_v<Rep>, "a duration must count in an integer or floating-point type");
  using scale = std::ratio_divide<Period, std::nano>;
  const Rep count = value.count();
  if constexpr (std::is_floating_point_v<Rep>) {
    using real = std::common_type_t<Rep, double>;
    return scaled_real(static_cast<real>(count) * static_cast<real>(scale::num) / static_cast<real>(scale::den));
  } else {
    using wide = std::conditional_t<std::is_signed_v<Rep>, std::int64_t, std::uint64_t>;
    return scaled<scale::num, scale::den>(static_cast<wide>(count));
  }
}

}  // namespace detail

// Returns `now` + `delay`, at least time_point::min() and at most time_point::max() ("never"). A negative `delay` gives
// an instant in the past: a wait until then ends at once.
template <class Rep, class Period>
constexpr time_point deadline_after(time_point now, std::chrono::duration<Rep, Period> delay) noexcept {
  const duration delta = detail::to_nanoseconds(delay);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(static_cast<std::int64_t>(now.time_since_epoch().count()),
                             static_cast<std::int64_t>(delta.count()), &sum)) {
    return delta < duration::zero() ? time_point::min() : time_point::max();
  }
  return time_point{duration{sum}};
}

}}  // namespace hocket
