#include "net/marks.hpp"

#include <time.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "net/server.hpp"

namespace lab::net {

namespace {

std::uint64_t read_ns(clockid_t clock) {
  timespec at{};
  checked(clock_gettime(clock, &at), "clock_gettime");
  return static_cast<std::uint64_t>(at.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(at.tv_nsec);
}

std::uint64_t switches_of(const std::filesystem::path& thread) {
  std::ifstream status(thread / "status");
  std::uint64_t sum = 0;
  for (std::string line; std::getline(status, line);) {
    const std::size_t colon = line.find("_ctxt_switches:");
    if (colon != line.npos) sum += std::stoull(line.substr(line.find(':') + 1));
  }
  return sum;
}

}  // namespace

std::uint64_t now_ns() { return read_ns(CLOCK_MONOTONIC); }

marks marks_of(pid_t process) {
  marks found;
  clockid_t clock{};
  if (clock_getcpuclockid(process, &clock) != 0) fail("no such server");
  found.cpu_ns = read_ns(clock);
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task"))
    found.switches += switches_of(thread.path());
  return found;
}

}  // namespace lab::net
