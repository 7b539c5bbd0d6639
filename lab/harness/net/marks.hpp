#pragma once
// What a process has used so far, read from outside.
#include <sys/types.h>

#include <cstdint>

namespace lab::net {

struct marks {
  std::uint64_t cpu_ns = 0;    // of all its threads, ended ones too
  std::uint64_t switches = 0;  // context switches, voluntary and not, of the threads that there are
};

std::uint64_t now_ns();
marks marks_of(pid_t process);

}  // namespace lab::net
