#include <hocket/net/detail/connection_phase.hpp>

#include <chrono>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Not 0.
std::uint32_t phased_connection::units(time_point at) noexcept {
  constexpr std::uint32_t mask = (std::uint32_t{1} << deadline_bits) - 1;
  const auto time = static_cast<std::uint32_t>(at.time_since_epoch().count() >> unit_bits) & mask;
  return time != 0 ? time : 1;
}

// The numbers wrap after 52 days, and a phase is shorter than half of that.
bool phased_connection::has_passed(std::uint32_t deadline, time_point present) noexcept {
  return ((units(present) - deadline) >> (deadline_bits - 1) & 1) == 0;
}

bool phased_connection::set_phase(time_point deadline, bool is_rated) noexcept {
  // Rounded up, so that no phase ends early.
  const word phase =
      (word{units(deadline + std::chrono::nanoseconds(1 << unit_bits))} << first_bit) | (is_rated ? rated : 0);
  // ORDER: relaxed, pairs with nothing, twice: the word is all that both parties share; the mutex orders the list.
  word expected = word_.load(std::memory_order_relaxed);
  while (!word_.compare_exchange_weak(expected, (expected & ~(deadline_mask | rated)) | phase | listed,
                                      std::memory_order_relaxed, std::memory_order_relaxed))
    continue;
  return (expected & listed) == 0;
}

void phased_connection::end_phase() noexcept {
  // ORDER: relaxed, pairs with nothing: as in set_phase().
  word_.fetch_and(~(deadline_mask | rated), std::memory_order_relaxed);
}

void phased_connection::add_moved(std::size_t bytes) noexcept {
  // ORDER: relaxed, pairs with nothing: as in set_phase().
  word_.fetch_add(word{static_cast<std::uint32_t>(bytes)} << moved_bit, std::memory_order_relaxed);
}

bool phased_connection::is_late(time_point present) const noexcept {
  // ORDER: relaxed, pairs with nothing: as in set_phase().
  const std::uint32_t deadline = deadline_of(word_.load(std::memory_order_relaxed));
  // ORDER: relaxed, pairs with nothing: notify() orders it before the run.
  return deadline != 0 && (has_passed(deadline, present) || is_slow_.load(std::memory_order_relaxed));
}

phased_connection::verdict phased_connection::check(time_point present) noexcept {
  // ORDER: relaxed, pairs with nothing: as in set_phase().
  word expected = word_.load(std::memory_order_relaxed);
  while (deadline_of(expected) == 0) {
    // ORDER: relaxed, as above.
    if (word_.compare_exchange_weak(expected, expected & ~listed, std::memory_order_relaxed, std::memory_order_relaxed))
      return verdict::no_phase;
  }
  if (has_passed(deadline_of(expected), present)) return verdict::late;
  if ((expected & rated) == 0 || ++seconds_ < seconds_of_rate) return verdict::in_time;
  const std::uint32_t moved = moved_of(expected) - moved_before_;
  moved_before_ = moved_of(expected);
  seconds_ = 0;
  if (moved >= min_rate * seconds_of_rate) return verdict::in_time;
  // ORDER: relaxed, pairs with nothing: notify() orders it before the run.
  is_slow_.store(true, std::memory_order_relaxed);
  return verdict::late;
}

}}}  // namespace hocket::detail
