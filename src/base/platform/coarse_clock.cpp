#include <hocket/base/seam/coarse_clock.hpp>

#include <chrono>
#include <time.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

time_point coarse_time() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}}}  // namespace hocket::detail
