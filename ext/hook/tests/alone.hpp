// Runs one test case of this program in a process of its own: for state that a process has once. Among the others the
// case does nothing, see is_alone().
#pragma once
#include <array>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace hooked_tests {

inline constexpr const char* alone_variable = "HOCKET_TEST_ALONE";
inline bool is_alone() { return std::getenv(alone_variable) != nullptr; }

// prepare() runs in the child, before it executes the program. The name has no comma.
template <class Prepare>
void run_alone(const std::string& test_case, Prepare prepare) {
  const std::string filter = "-tc=" + test_case;
  std::array<int, 2> output{};
  REQUIRE(::pipe2(output.data(), O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    prepare();
    ::dup2(output[1], STDOUT_FILENO);
    ::setenv(alone_variable, "1", 1);
    ::execl("/proc/self/exe", "ext_hook", filter.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(output[1]);
  std::string report;
  std::array<char, 4096> text{};
  for (ssize_t size = 0; (size = ::read(output[0], text.data(), text.size())) > 0;)
    report.append(text.data(), static_cast<std::size_t>(size));
  ::close(output[0]);
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CAPTURE(report);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(report.find("1 passed") != std::string::npos);
}

}  // namespace hooked_tests
