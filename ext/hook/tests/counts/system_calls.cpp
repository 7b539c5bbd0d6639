// How many system calls a hooked receive makes, without a wait and with one. The program runs itself again and traces
// that run.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/hook/hook.hpp>
#include <hocket/runtime/loop.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr unsigned rounds = 50, connections = 50;

[[noreturn]] void give_up(const char* why) {
  std::perror(why);
  std::exit(1);
}

// --- the traced run

void mark() { ::syscall(SYS_getppid); }

struct connection {
  connection() {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("socketpair");
  }
  void send(std::size_t bytes) const {
    const char some[rounds] = {};
    if (::send(ends[1], some, bytes, 0) != static_cast<ssize_t>(bytes)) give_up("send");
  }
  int ends[2];
};

std::uint64_t waits_so_far() { return hocket::hook::collect_statistics().waits; }

void receive_all(const connection& from) {
  char byte = 0;
  for (unsigned i = 0; i < rounds; ++i)
    if (::recv(from.ends[0], &byte, 1, 0) != 1) give_up("recv");
}

// All bytes arrive before the first receive.
void receive_ready() {
  const connection all[connections];
  for (const connection& pair : all) pair.send(rounds);
  hocket::loop lp;
  hocket::spawn(lp, hocket::hook::hooked([&] {
                  mark();
                  for (const connection& pair : all) receive_all(pair);
                  mark();
                }));
  lp.run();
  if (waits_so_far() != 0) std::exit(2);
}

// A byte is sent to each connection when all fibers wait.
void receive_waiting() {
  const connection all[connections];
  hocket::loop lp;
  for (const connection& pair : all) hocket::spawn(lp, hocket::hook::hooked([&] { receive_all(pair); }));
  hocket::spawn(lp, [&] {
    mark();
    for (unsigned i = 1; i <= rounds; ++i) {
      while (waits_so_far() != std::uint64_t{connections} * i) hocket::await(hocket::yield());
      for (const connection& pair : all) pair.send(1);
    }
    mark();
  });
  lp.run();
}

// --- the tracer

bool run_to_next_stop(pid_t traced) {
  int status = 0;
  if (::ptrace(PTRACE_SYSCALL, traced, nullptr, nullptr) != 0 || ::waitpid(traced, &status, 0) != traced)
    give_up("ptrace");
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) std::exit(WEXITSTATUS(status));
  return WIFSTOPPED(status);
}

// Counts the calls between the two marks, except sends.
double calls_for_each(const char* program, const char* mode) {
  const pid_t traced = ::fork();
  if (traced < 0) give_up("fork");
  if (traced == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) give_up("ptrace");
    ::execl(program, program, mode, nullptr);
    give_up("execl");
  }
  int status = 0;
  if (::waitpid(traced, &status, 0) != traced || !WIFSTOPPED(status)) give_up("waitpid");
  if (::ptrace(PTRACE_SETOPTIONS, traced, nullptr, PTRACE_O_TRACESYSGOOD) != 0) give_up("PTRACE_SETOPTIONS");
  int marks = 0, calls = 0;
  while (run_to_next_stop(traced)) {
    __ptrace_syscall_info call{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, traced, sizeof call, &call) <= 0) give_up("PTRACE_GET_SYSCALL_INFO");
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) continue;
    if (call.entry.nr == SYS_getppid) ++marks;
    else if (marks == 1 && call.entry.nr != SYS_sendto) ++calls;
  }
  if (marks != 2) give_up("marks");
  return double(calls) / (rounds * connections);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return (std::strcmp(argv[1], "waits") == 0 ? receive_waiting : receive_ready)(), 0;
  const double ready = calls_for_each(argv[0], "ready"), waits = calls_for_each(argv[0], "waits");
  std::printf("system calls of a receive: %.2f that need not wait, %.2f that waits\n", ready, waits);
  return ready <= 1.02 && waits <= 4.2 ? 0 : 1;
}
