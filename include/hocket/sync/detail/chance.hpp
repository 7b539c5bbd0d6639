// Chance, for choices that only have to be fair: who is tried first.
//
// Each thread has a sequence of its own, which begins with a seed that it takes when it first needs one, and again
// after the source of seeds was replaced (base/random.hpp). So a simulation that replaces the source replays the
// choices of a thread, whatever that has run before. Where fibers are threads, the sequence is of the thread that
// resumes them.
//
// The sequence is that of the multiples of the golden ratio, of which the fractional part is taken: it is spread more
// evenly than independent numbers would be, so nobody waits long for his turn; and so is each k-th of them, so two
// places that choose in turn do not fall into step, as they would with a counter (Weyl, "Über die Gleichverteilung von
// Zahlen mod. Eins", Mathematische Annalen 77, 1916). It is not to be used where independence matters, or secrecy.
#pragma once
#include <hocket/base/random.hpp>
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Takes a seed first. Under the model, where an execution is to be repeated: no chance at all.
[[HOCKET_COLD, HOCKET_NOINLINE]] std::uint32_t first_chance_below(std::uint32_t bound) noexcept;

// A number below `bound`, which is not 0; in the long run each as often as the others.
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
