#include "runtime/platform/cpu_count.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sched.h>
#include <string>
#include <vector>

namespace hocket::inline HOCKET_ABI {
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

std::string first_line(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  char line[256] = {};
  if (!file || !std::fgets(line, sizeof line, file.get())) return {};
  return line;
}

// CPUs, rounded up; 0: no limit.
std::size_t cpus_of(double quota, double period) noexcept {
  if (quota <= 0 || period <= 0) return 0;
  return std::max(static_cast<std::size_t>((quota + period - 1) / period), std::size_t{1});
}

// Version 2: "max 100000" or "150000 100000". Version 1: one file each, -1 for no limit.
std::size_t quota_in(const std::string& folder) {
  double quota = 0, period = 0;
  if (const std::string line = first_line(folder + "/cpu.max"); !line.empty())
    return std::sscanf(line.c_str(), "%lf %lf", &quota, &period) == 2 ? cpus_of(quota, period) : 0;
  return cpus_of(std::atof(first_line(folder + "/cpu.cfs_quota_us").c_str()),
                 std::atof(first_line(folder + "/cpu.cfs_period_us").c_str()));
}

// The process's own group, as seen from here, and those above it: each of them limits.
std::size_t cpus_of_quota() {
  std::size_t least = 0;
  const auto limit = [&](const std::string& folder) {
    if (const std::size_t cpus = quota_in(folder)) least = least ? std::min(least, cpus) : cpus;
  };
  std::string group = first_line("/proc/self/cgroup");
  if (const char* path = group.rfind("0::", 0) == 0 ? group.c_str() + 3 : nullptr) {
    std::string folder(path, std::strcspn(path, "\n"));
    while (folder.size() > 1) {
      limit("/sys/fs/cgroup" + folder);
      folder.resize(folder.rfind('/'));
    }
  }
  limit("/sys/fs/cgroup");
  limit("/sys/fs/cgroup/cpu");
  return least;
}

}  // namespace

std::size_t usable_cpus() noexcept {
  try {
    const std::size_t mask = cpus_of_mask();
    const std::size_t quota = cpus_of_quota();
    return quota ? std::min(mask, quota) : mask;
  } catch (...) {  // no memory to look further
    return 1;
  }
}

}  // namespace hocket::inline HOCKET_ABI
