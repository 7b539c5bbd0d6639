#include <hocket/base/seam/never_destroyed.hpp>

#include "net/connection_limit.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

std::size_t compute_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return semaphore::max;
  const rlim_t share = limit.rlim_cur / 5 * 4 + limit.rlim_cur % 5 * 4 / 5;
  return static_cast<std::size_t>(std::clamp<rlim_t>(share, 1, semaphore::max));
}

}  // namespace

semaphore& process_connections() noexcept {
  static never_destroyed<semaphore> permits(process_connection_limit());
  return *permits;
}

std::size_t process_connection_limit() noexcept {
  static const std::size_t limit = compute_limit();
  return limit;
}

}}}  // namespace hocket::detail
