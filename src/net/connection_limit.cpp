#include <hocket/base/seam/never_destroyed.hpp>

#include "net/connection_limit.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

std::size_t connections_allowed() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return semaphore::max;
  const rlim_t share = limit.rlim_cur / 5 * 4 + limit.rlim_cur % 5 * 4 / 5;
  return static_cast<std::size_t>(std::clamp<rlim_t>(share, 1, semaphore::max));
}

}  // namespace

semaphore& process_connections() noexcept {
  static never_destroyed<semaphore> permits(connections_allowed());
  return *permits;
}

}}}  // namespace hocket::detail
