// How long a server waits for a slow peer: a reserve of time.
//
// The reserve is `grace` at the begin. Waiting for the peer takes time out of it, and each byte that the peer moves
// puts 1/rate seconds back, up to `most`. If the reserve is used up, the peer is too slow.
//
//   - A peer that moves nothing is given up after `grace`.
//   - A silent peer is given up after at most `most`, whatever it has moved before; of an answer, a second later.
//   - A peer that moves grace * rate bytes in every period of `grace` is never given up.
//   - A peer that moves fewer bytes a second is given up after the reserve / (1 - its rate / rate).
//
// # Bodies and answers
//
// Bytes of a body arrive as the peer sends them: `most` is `grace`.
//
// Bytes of an answer are moved when the peer's system takes them. A system reports room in its receive buffer only when
// a large part of it is free, 64 KB or megabytes. So a program that reads steadily looks silent for as long as it needs
// for that part. Therefore the reserve of answers grows up to six times `grace`. A program that needs longer is given
// up: the server cannot distinguish it from one that reads nothing.
//
// Only waits for the peer count. A handler that computes takes nothing.
//
// Rejected: bytes / time since the begin. A peer that has sent a gigabyte fast could then be silent for days.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/platform/algobase.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class pace {
 public:
  pace(std::uint32_t rate, duration grace, duration most) noexcept
      : rate_(rate), grace_(grace), most_(most), rest_(grace) {}
  pace(std::uint32_t rate, duration grace) noexcept : pace(rate, grace, grace) {}

  // The largest reserve of answers.
  static constexpr duration reserve_of_answers(duration grace) noexcept {
    return grace > duration::max() / 12 ? duration::max() : 6 * grace;
  }

  void restart() noexcept { rest_ = grace_; }
  // The limit of the next wait for the peer.
  duration patience() const noexcept { return rate_ == 0 ? duration::max() : rest_; }
  // The same for a wait during which no event reports what the peer moves: a second at most.
  duration until_look() const noexcept {
    return patience() == duration::max() ? duration::max() : std::min(rest_, one_second);
  }
  // After a wait of that length, in which the peer has moved the bytes.
  void count(duration waited, std::size_t bytes) noexcept {
    const bool is_full = rest_ == most_ && waited == duration::zero();
    if (rate_ == 0 || most_ == duration::max() || is_full) return;
    // More bytes than fill the reserve count as a full one. No product overflows: the rate has 32 bits.
    const auto whole_seconds =
        std::min<std::uint64_t>(bytes / rate_, static_cast<std::uint64_t>(most_ / one_second + 1));
    const duration rest_of_second = one_second * static_cast<std::int64_t>(bytes % rate_) / rate_;
    const duration earned = one_second * static_cast<std::int64_t>(whole_seconds) + rest_of_second;
    rest_ += earned - waited;
    if (rest_ > most_) rest_ = most_;
    if (rest_ < duration::zero()) rest_ = duration::zero();
  }

 private:
  static constexpr duration one_second = std::chrono::seconds(1);

  const std::uint32_t rate_;  // bytes a second; 0: no limit
  const duration grace_;
  const duration most_;
  duration rest_;
};

}}}}  // namespace hocket::http::detail
