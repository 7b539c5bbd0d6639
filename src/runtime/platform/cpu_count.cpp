#include "runtime/platform/cpu_count.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sched.h>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The mask may be larger than cpu_set_t: the call says so.
std::size_t cpus_of_mask() {
  for (std::size_t room = CPU_SETSIZE; room <= (1u << 20); room *= 2) {
    std::vector<cpu_set_t> mask(room / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, bytes, mask.data()) == 0)
      return std::max(static_cast<std::size_t>(CPU_COUNT_S(bytes, mask.data())), std::size_t{1});
  }
  return 1;
}

// Without their ends. None: there is no such file.
std::vector<std::string> lines_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  std::vector<std::string> lines;
  char line[4096];
  while (file && std::fgets(line, sizeof line, file.get())) lines.emplace_back(line, std::strcspn(line, "\n"));
  return lines;
}
std::string first_line(const std::string& path) {
  const auto lines = lines_of(path);
  return lines.empty() ? std::string() : lines.front();
}

// CPUs, rounded up; 0: no limit.
std::size_t cpus_of(double quota, double period) noexcept {
  if (quota <= 0 || period <= 0) return 0;
  return std::max(static_cast<std::size_t>((quota + period - 1) / period), std::size_t{1});
}

std::size_t smaller_limit(std::size_t first, std::size_t second) noexcept {
  return first && second ? std::min(first, second) : first + second;
}

// Version 2: "max 100000" or "150000 100000". Version 1: one file each, -1 for no limit.
std::size_t quota_in(const std::string& folder) {
  double quota = 0, period = 0;
  if (const std::string line = first_line(folder + "/cpu.max"); !line.empty())
    return std::sscanf(line.c_str(), "%lf %lf", &quota, &period) == 2 ? cpus_of(quota, period) : 0;
  return cpus_of(std::atof(first_line(folder + "/cpu.cfs_quota_us").c_str()),
                 std::atof(first_line(folder + "/cpu.cfs_period_us").c_str()));
}

// The least of a group, "/a/b", and of those above it, below the mount of its hierarchy.
std::size_t quota_along(const std::string& mount, std::string group) {
  std::size_t least = 0;
  for (; group.rfind('/') != std::string::npos; group.resize(group.rfind('/')))
    least = smaller_limit(least, quota_in(mount + group));
  return least;
}

}  // namespace

// The own groups are in lines "<number>:<controllers>:<path>"; version 2 has one line, "0::<path>". In a container the
// path is perhaps that outside of it; then the group of the container is the one that is mounted.
std::size_t cpus_of_quota(const std::string& root) {
  const std::string version_2 = root + "/sys/fs/cgroup", version_1 = version_2 + "/cpu";
  std::size_t least = smaller_limit(quota_in(version_2), quota_in(version_1));
  for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string group = line.substr(second + 1);
    std::string controllers = line.substr(first, second - first + 1);
    controllers.front() = controllers.back() = ',';  // from colons
    if (controllers == ",,") least = smaller_limit(least, quota_along(version_2, group));
    else if (controllers.find(",cpu,") != std::string::npos)
      least = smaller_limit(least, quota_along(version_1, group));
  }
  return least;
}

std::size_t usable_cpus() noexcept {
  try {
    const std::size_t mask = cpus_of_mask();
    const std::size_t quota = cpus_of_quota("");
    return quota ? std::min(mask, quota) : mask;
  } catch (...) {  // no memory to look further
    return 1;
  }
}

}}}  // namespace hocket::detail
