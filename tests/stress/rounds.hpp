// Rounds of races on runtimes, whose coroutines are cancelled and killed from outside.
#pragma once
#include <hocket/runtime/runtime.hpp>

#include "stress/races.hpp"

namespace hocket_test {

inline constexpr bool quick =
    hocket::detail::sanitizer != hocket::detail::sanitizer_kind::plain || hocket::detail::conforming_mode;
inline constexpr int rounds = quick ? 25 : 100;

// Calls round(runtime, random) again and again, on runtimes of each size.
template <class Round>
void in_rounds(Round one_round) {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  hocket::detail::random_engine random(seed);
  for (const std::size_t workers : {1u, 2u, 4u, 8u}) {
    CAPTURE(workers);
    hocket::runtime rt(runtime_options{.workers = workers});
    for (int i = 0; i < rounds; ++i) one_round(rt, random);
  }
}

inline void wait_for(const std::vector<join_handle<>>& all) {
  for (auto& one : all) {
    while (!one.done()) std::this_thread::yield();
  }
}

// Fewer than so many.
inline void cancel_and_kill_some(std::vector<join_handle<>>& all, hocket::detail::random_engine& random,
                                 std::uint32_t most) {
  for (std::uint32_t i = random.below(most); i > 0; --i) {
    auto& victim = all[random.below(static_cast<std::uint32_t>(all.size()))];
    if (random.below(2) == 0) victim.cancel();
    else victim.kill();
    std::this_thread::yield();
  }
}

inline duration no_or_short_time(hocket::detail::random_engine& random) {
  return random.below(3) == 0 ? short_time(random) : duration::max();
}

}  // namespace hocket_test
