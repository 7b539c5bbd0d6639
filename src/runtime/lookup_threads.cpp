#include <hocket/runtime/detail/lookup_threads.hpp>

#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Detached threads use it after main(), and a forked child may need it at once: so it has no destructor, and no lock of
// a first use.
static_assert(std::is_trivially_destructible_v<detached_threads>);

detached_threads& lookup_threads() noexcept {
  static constinit detached_threads threads({.threads = max_lookups, .queue = max_queued_lookups, .name = "lookup"});
  return threads;
}

}}}  // namespace hocket::detail
