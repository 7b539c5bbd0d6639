#include "base/platform/entropy.hpp"

#include <hocket/base/seam/atomic.hpp>

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// For a kernel or a container that refuses getrandom, or an early boot in which it would block: seeds are no secrets,
// they only have to differ.
std::uint64_t improvised() noexcept {
  static constinit atomic<std::uint64_t> calls{0};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto state = static_cast<std::uint64_t>(now.tv_nsec) ^ (static_cast<std::uint64_t>(now.tv_sec) << 30) ^
                     (static_cast<std::uint64_t>(::getpid()) << 44);
  // ORDER: relaxed, pairs with nothing: only the uniqueness of the number matters.
  return state ^ calls.fetch_add(1, std::memory_order_relaxed) * 0xd1342543de82ef95u;
}

}  // namespace

std::uint64_t kernel_entropy() noexcept {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof seed)) return seed;
  return improvised();
}

}}}  // namespace hocket::detail
