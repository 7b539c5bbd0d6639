#include <hocket/sync/detail/chance.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

std::uint32_t first_chance_below(std::uint32_t bound) noexcept {
  thread_state& thread = this_thread();
  thread.chance_generation = seed_generation();
  std::uint64_t seed = random_seed();
  thread.chance = splitmix64(seed);  // a simulation's seeds may be small numbers
  return chance_below(bound);
}

}}}  // namespace hocket::detail
