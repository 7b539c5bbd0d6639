// The metrics of the process's depots of stacks.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Lists them. Further calls do nothing.
void list_depot_metrics() noexcept;

}}}  // namespace hocket::detail
