// How long a server waits for a slow peer: a bucket of time.
//
// The bucket is full at the begin: it holds `grace`. Waiting for the peer takes time out of it, and each byte that the
// peer moves puts 1/rate seconds back, up to `grace`. If the bucket is empty, the peer is too slow.
//
//   - A silent peer is given up after `grace`, whatever it has sent before.
//   - A peer at exactly `rate` bytes a second is never given up.
//   - A slower peer is given up after grace / (1 - its rate / rate).
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
  pace(std::uint32_t rate, duration grace) noexcept : rate_(rate), grace_(grace), rest_(grace) {}

  void restart() noexcept { rest_ = grace_; }
  // The limit of the next wait for the peer.
  duration patience() const noexcept { return rate_ == 0 ? duration::max() : rest_; }
  // After a wait of that length, in which the peer has moved the bytes.
  void count(duration waited, std::size_t bytes) noexcept {
    const bool is_full = rest_ == grace_ && waited == duration::zero();
    if (rate_ == 0 || grace_ == duration::max() || is_full) return;
    // More bytes than fill the bucket count as a full bucket. No product overflows: the rate has 32 bits.
    const auto whole_seconds =
        std::min<std::uint64_t>(bytes / rate_, static_cast<std::uint64_t>(grace_ / one_second + 1));
    const duration rest_of_second = one_second * static_cast<std::int64_t>(bytes % rate_) / rate_;
    const duration earned = one_second * static_cast<std::int64_t>(whole_seconds) + rest_of_second;
    rest_ += earned - waited;
    if (rest_ > grace_) rest_ = grace_;
    if (rest_ < duration::zero()) rest_ = duration::zero();
  }

 private:
  static constexpr duration one_second = std::chrono::seconds(1);

  const std::uint32_t rate_;  // bytes a second; 0: no limit
  const duration grace_;
  duration rest_;
};

}}}}  // namespace hocket::http::detail
