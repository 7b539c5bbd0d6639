// Random numbers. Each generator of hocket takes its seed from `random_seed`, so that a simulation can be replayed.
//
// Do not use these numbers for secrets.
#pragma once
#include <hocket/base/seam/atomic.hpp>
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

// A random number generator: xoshiro256** 1.0 (Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM
// TOMS 47, 2021; https://prng.di.unimi.it/xoshiro256starstar.c). Period 2^256 - 1, about 1 ns for a number. A
// std::uniform_random_bit_generator. One thread at a time uses an engine.
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
    const std::uint64_t out = rotate_left(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate_left(state_[3], 45);
    return out;
  }

  // Returns a number uniform in [0, bound), without bias (Lemire, "Fast random integer generation in an interval", ACM
  // TOMACS 29, 2019). A bound of 0 gives 0.
  constexpr std::uint32_t below(std::uint32_t bound) noexcept {
    std::uint64_t product = high() * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = (0u - bound) % bound;
      while (static_cast<std::uint32_t>(product) < threshold) product = high() * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  static constexpr std::uint64_t rotate_left(std::uint64_t x, int bits) noexcept {
    return (x << bits) | (x >> (64 - bits));
  }
  constexpr std::uint64_t high() noexcept { return (*this)() >> 32; }

  std::uint64_t state_[4] = {};
};

// Returns a fresh seed from the kernel (getrandom), or from the installed seed_source. Any thread.
std::uint64_t random_seed() noexcept;

}  // namespace detail

// Replaces the process's source of seeds and returns the previous one. Null means the kernel. Any thread may call
// the source.
using seed_source = std::uint64_t (*)() noexcept;
seed_source replace_seed_source(seed_source source) noexcept;

namespace detail {
// A number that changes with each replace_seed_source(). The number is odd, so never 0. A cache of numbers from a seed
// takes a new seed when the number has changed. So the replay of a simulation does not depend on what ran before the
// simulation. Any thread.
extern constinit atomic<std::uint32_t> seed_generation_word;
inline std::uint32_t seed_generation() noexcept {
  // ORDER: acquire, pairs with the fetch_add in replace_seed_source(): a seed that is taken next is of the new source.
  return seed_generation_word.load(std::memory_order_acquire);
}
}  // namespace detail

}}  // namespace hocket
