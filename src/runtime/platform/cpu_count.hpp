// How many CPUs the process may use.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Those of its affinity mask, or as many as its CPU quota (cgroup v2 or v1) pays for, rounded up; at least one.
std::size_t usable_cpus() noexcept;

// Those that the quota pays for: the smallest of the process's own groups and of those above them. 0: nothing limits
// it. `root` has the folders proc and sys; empty: the machine's own.
std::size_t cpus_of_quota(const std::string& root);

}}}  // namespace hocket::detail
