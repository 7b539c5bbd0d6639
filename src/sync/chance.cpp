#include <hocket/sync/detail/chance.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

std::uint32_t first_chance_below(std::uint32_t bound) noexcept {
  thread_state& here = this_thread();
  here.chance_generation = seed_generation();
  std::uint64_t seed = random_seed();
  here.chance = splitmix64(seed);  // a simulation's seeds may be small numbers
  return chance_below(bound);
}

}}}  // namespace hocket::detail
