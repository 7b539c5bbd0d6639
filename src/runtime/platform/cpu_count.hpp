// How many CPUs the process may use.
#pragma once
#include <hocket/base/platform/config.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI {

// Those of its affinity mask, or as many as its CPU quota (cgroup v2 or v1) pays for, rounded up; at least one.
std::size_t usable_cpus() noexcept;

}  // namespace hocket::inline HOCKET_ABI
