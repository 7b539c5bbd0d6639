// The randomness seam: whatever in hocket needs chance takes a seed from `random_seed`, so that a simulation can
// replay it. Not for secrets.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// One step of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, with the
// constants of https://prng.di.unimi.it/splitmix64.c): advances `state`, returns 64 well mixed bits.
constexpr std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// xoshiro256** 1.0 (Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47, 2021;
// https://prng.di.unimi.it/xoshiro256starstar.c): period 2^256 - 1, a nanosecond a number. A
// std::uniform_random_bit_generator. One thread at a time.
class random_engine {
 public:
  using result_type = std::uint64_t;

  // Equal seeds give equal sequences, on every machine. The state is never all zero, whatever the seed.
  constexpr explicit random_engine(std::uint64_t seed) noexcept {
    for (auto& word : state_) word = splitmix64(seed);
  }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return ~result_type{0}; }

  constexpr result_type operator()() noexcept {
    const std::uint64_t out = rotated(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 45);
    return out;
  }

  // Uniform in [0, bound), without bias (Lemire, "Fast random integer generation in an interval", ACM TOMACS 29,
  // 2019). A bound of 0 gives 0.
  constexpr std::uint32_t below(std::uint32_t bound) noexcept {
    std::uint64_t product = high() * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = (0u - bound) % bound;
      while (static_cast<std::uint32_t>(product) < threshold) product = high() * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  static constexpr std::uint64_t rotated(std::uint64_t x, int by) noexcept { return (x << by) | (x >> (64 - by)); }
  constexpr std::uint64_t high() noexcept { return (*this)() >> 32; }

  std::uint64_t state_[4] = {};
};

// A fresh seed: from the kernel (getrandom), or from the source that was installed. Any thread may call it.
std::uint64_t random_seed() noexcept;

}  // namespace detail

// Replaces the source of seeds for the whole process; null restores the kernel's. Returns the previous one, null for
// the kernel's. The source may be called from any thread.
using seed_source = std::uint64_t (*)() noexcept;
seed_source replace_seed_source(seed_source source) noexcept;

namespace detail {
// Another number after each replace_seed_source(), never 0 (it is odd): who keeps numbers that a seed has led to takes
// a new seed when it has changed, so that a simulation is replayed whatever was done before. Any thread.
extern constinit atomic<std::uint32_t> seed_generation_word;
inline std::uint32_t seed_generation() noexcept {
  // ORDER: acquire, pairs with the fetch_add in replace_seed_source(): the seed that is taken then is of the new
  // source.
  return seed_generation_word.load(std::memory_order_acquire);
}
}  // namespace detail

}}  // namespace hocket
