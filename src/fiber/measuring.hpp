// What measure_stacks() said last.
#pragma once
#include <hocket/base/platform/config.hpp>

namespace hocket::inline HOCKET_ABI {

bool new_pools_measure() noexcept;

}  // namespace hocket::inline HOCKET_ABI
