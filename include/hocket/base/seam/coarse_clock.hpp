// The time of steady_clock() at the last tick of the system: 1 to 10 ms behind, for about a fifth of the price.
#pragma once
#include <hocket/base/seam/time_point.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

time_point coarse_time() noexcept;

}}}  // namespace hocket::detail
