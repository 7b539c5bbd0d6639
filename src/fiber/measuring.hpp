// The last value of measure_stacks().
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool new_pools_measure() noexcept;

}}}  // namespace hocket::detail
