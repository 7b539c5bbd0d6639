// Whether the system has what child processes need: pidfds (not Valgrind, nor Linux before 5.4), and a posix_spawn that
// tells why a program cannot be started (not qemu's user mode). Asked of the system: hocket is what is tested.
#pragma once
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hocket_test {

inline bool has_pidfds() {
  constexpr long pidfd_open = 434;
  const long number = ::syscall(pidfd_open, ::getpid(), 0);
  if (number >= 0) ::close(static_cast<int>(number));
  return number >= 0;
}

inline bool tells_why_not_started() {
  char name[] = "/no/such/program";
  char* const arguments[] = {name, nullptr};
  pid_t child = -1;
  if (::posix_spawn(&child, name, nullptr, nullptr, arguments, environ) != 0) return true;
  ::waitpid(child, nullptr, 0);
  return false;
}

// From decorators of test cases, before main().
inline bool starts_no_children() {
  static const bool known = !has_pidfds() || !tells_why_not_started();
  return known;
}

}  // namespace hocket_test
