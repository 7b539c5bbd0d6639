#pragma once
// How long answers took, in nanoseconds: mean, deviation and maximum as they are, quantiles to within 1.6 %.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace lab::net {

class latencies {
 public:
  void note(std::uint64_t ns) {
    ++counts_[bucket_of(ns)];
    ++count_;
    const auto value = static_cast<double>(ns);
    sum_ += value;
    squares_ += value * value;
    most_ = std::max(most_, ns);
  }

  std::uint64_t count() const { return count_; }
  double mean() const { return count_ ? sum_ / static_cast<double>(count_) : 0; }
  double deviation() const {
    return count_ ? std::sqrt(std::max(0.0, squares_ / static_cast<double>(count_) - mean() * mean())) : 0;
  }
  double most() const { return static_cast<double>(most_); }

  // That many of a thousand were as fast as this, or faster.
  double quantile(unsigned thousandths) const {
    std::uint64_t left = (count_ * thousandths + 999) / 1000;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] >= left) return std::min(middle_of(i), most());
      left -= counts_[i];
    }
    return most();
  }

 private:
  // 64 buckets for each power of two; below 64 each number has its own.
  static constexpr unsigned bits = 6;

  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < 1U << bits) return static_cast<std::size_t>(ns);
    const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - bits - 1;
    return (static_cast<std::size_t>(shift + 1) << bits) + static_cast<std::size_t>(ns >> shift) - (1U << bits);
  }
  static double middle_of(std::size_t bucket) {
    if (bucket < 1U << bits) return static_cast<double>(bucket);
    const std::size_t shift = (bucket >> bits) - 1;
    const std::uint64_t first = ((bucket & ((1U << bits) - 1)) + (1U << bits)) << shift;
    return static_cast<double>(first) + static_cast<double>((std::uint64_t{1} << shift) - 1) / 2;
  }

  std::array<std::uint64_t, (64 - bits + 1) << bits> counts_{};
  std::uint64_t count_ = 0, most_ = 0;
  double sum_ = 0, squares_ = 0;
};

}  // namespace lab::net
