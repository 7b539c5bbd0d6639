// Chance, for choices that need fairness only: which operation a select tries first.
//
// Each thread has a sequence of its own. It takes a seed before its first number, and again after the source of seeds
// was replaced (base/random.hpp). So a simulation that replaces the source replays the choices of a thread, whatever
// ran on the thread before. Where fibers are threads, the sequence belongs to the thread that resumes them.
//
// The sequence is the fractional parts of the multiples of the golden ratio. It is spread more evenly than independent
// numbers, so no choice is delayed for long. Each k-th element is spread evenly, too, so two places that choose in turn
// do not fall into step, as they would with a counter (Weyl, "Über die Gleichverteilung von Zahlen mod. Eins",
// Mathematische Annalen 77, 1916). Do not use it where independence or secrecy matters.
#pragma once
#include <hocket/base/random.hpp>
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Takes a seed first. The model checker replaces it: without chance, an execution can be repeated.
[[HOCKET_COLD, HOCKET_NOINLINE]] std::uint32_t first_chance_below(std::uint32_t bound) noexcept;

// A number below `bound`, which is not 0. In the long run all numbers are equally frequent.
[[nodiscard]] inline std::uint32_t chance_below(std::uint32_t bound) noexcept {
  if constexpr (under_model) {
    return first_chance_below(bound);
  } else {
    thread_state& thread = this_thread();
    if (thread.chance_generation != seed_generation()) [[unlikely]]
      return first_chance_below(bound);
    thread.chance += 0x9e3779b97f4a7c15u;  // 2^64 / the golden ratio, and odd
    return static_cast<std::uint32_t>(((thread.chance >> 32) * bound) >> 32);
  }
}

}}}  // namespace hocket::detail
