#pragma once
// Counts instructions by single steps: exact, without hardware counters. A system call counts as one.
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "../harness.hpp"

namespace lab {

// In the traced process: the tracer counts the steps between two marks.
inline void mark() { std::raise(SIGSTOP); }

// In the tracer. The child calls `run`, which must exec a program that calls mark() twice. Empty if the system permits
// no tracing.
template <class Run>
std::optional<std::size_t> steps_of(Run&& run) {
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
    run();
    _exit(3);
  }
  std::size_t marks = 0, steps = 0;
  for (int status = 0; waitpid(child, &status, 0) == child && WIFSTOPPED(status);) {
    const bool is_mark = WSTOPSIG(status) == SIGSTOP;
    marks += is_mark;
    if (marks == 1 && !is_mark) ++steps;
    const bool counts = marks == 1;
    if (ptrace(counts ? PTRACE_SINGLESTEP : PTRACE_CONT, child, nullptr, nullptr) != 0) break;
  }
  return marks == 2 ? std::optional(steps) : std::nullopt;
}

}  // namespace lab
