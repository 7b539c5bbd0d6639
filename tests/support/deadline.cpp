#include "support/deadline.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace hocket_test {

// A raw clone(2): the signal may have interrupted a fork, and no fork handler may be called in a signal handler.
void show_calls_by_gdb() noexcept {
  std::array<char, 16> pid{};
  std::snprintf(pid.data(), pid.size(), "%d", ::getpid());
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execlp("timeout", "timeout", "-k", "10", "60", "gdb", "-nx", "-batch", "-p", pid.data(), "-ex",
             "thread apply all backtrace 40", "-ex", "source " HOCKET_TEST_GDB_SCRIPT, "-ex", "hocket-list", nullptr);
    ::_exit(127);
  }
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace hocket_test
