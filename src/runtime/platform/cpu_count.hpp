// The number of CPUs that the process may use.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The number of CPUs in the affinity mask, or the CPU quota (cgroup v2 or v1), rounded up, if that is less. At least 1.
std::size_t usable_cpus() noexcept;

// The smallest CPU quota of the process's groups and their ancestors. 0: no quota. `root` contains the folders proc and
// sys; empty: the machine's own.
std::size_t cpus_of_quota(const std::string& root);

}}}  // namespace hocket::detail
