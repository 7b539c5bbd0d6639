// The phase of a connection: one word that its list checks once a second, instead of a timer for each read.
//
// # The word
//
//   bits 0     listed: the connection is in the list of phases
//   bits 1     rated: at least `min_rate` bytes a second are to move, while the phase lasts
//   bits 2-31  the deadline, in units of 4.2 ms; 0: there is no phase
//   bits 32-63 how many bytes the connection has moved, modulo 2^32
//
// The connection alone writes deadline, rate and bytes. The list clears `listed` when it finds a word without a phase,
// so a request that is over before the next second costs two stores, and no lock. The next phase enters the list again.
//
// # The rate
//
// Each second in which the list finds a rated phase counts as a second of waiting. After ten of them, and then after
// each ten further ones, at least ten times `min_rate` bytes have moved since the last count, or the phase is over. A
// phase that ends and begins again goes on counting: a peer that sends a byte in time gains nothing.
//
// # Hazards
//
// If the list takes a connection out while the connection begins a phase, then nobody would check that. Prevented: both
// change the word by read-modify-writes. Either the list finds the new phase, and keeps the connection; or the
// connection finds `listed` cleared, and enters the list, under the mutex that the list has held.
//
// If the phase ends while the list notifies the job, then the job would end a connection that is in time. Prevented:
// the run compares the time with the word (is_late()).
//
// # Access
//
// The list, under its mutex: check(). The connection: all else.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/list.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class phased_connection : public list_node {
 public:
  static constexpr std::uint32_t min_rate = 1024;  // bytes a second
  static constexpr std::uint8_t seconds_of_rate = 10;

  enum class verdict : std::uint8_t { in_time, late, no_phase };

  // By the list, once a second, under its mutex. no_phase: it is no longer listed.
  verdict check(time_point present) noexcept;

  // True: it is not listed, and enters the list now.
  [[nodiscard]] bool set_phase(time_point deadline, bool rated) noexcept;
  void end_phase() noexcept;
  void add_moved(std::size_t bytes) noexcept;
  // The phase is over by the clock, or by what the list has found.
  bool is_late(time_point present) const noexcept;

 private:
  using word = std::uint64_t;
  static constexpr word listed = 1, rated = 2;
  static constexpr unsigned unit_bits = 22, first_bit = 2, deadline_bits = 30, moved_bit = 32;
  static constexpr word deadline_mask = ((word{1} << deadline_bits) - 1) << first_bit;

  static std::uint32_t units(time_point at) noexcept;
  static std::uint32_t deadline_of(word seen) noexcept {
    return static_cast<std::uint32_t>((seen & deadline_mask) >> first_bit);
  }
  static std::uint32_t moved_of(word seen) noexcept { return static_cast<std::uint32_t>(seen >> moved_bit); }
  static bool has_passed(std::uint32_t deadline, time_point present) noexcept;

  primitive::atomic<word> word_{0};
  // The list's.
  std::uint32_t moved_before_ = 0;
  std::uint8_t seconds_ = 0;
  primitive::atomic<bool> is_slow_{false};
};

}}}  // namespace hocket::detail
