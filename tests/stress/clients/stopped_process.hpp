// A process of a server, stopped by SIGSTOP while the object lives.
//
// The process is named by a pidfd, and must be a child of a given process: so no signal reaches a process that has
// taken over the number of another. If it is none, or the system has no pidfds, nothing is stopped.
#pragma once
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace hocket_test {

// 0: there is no such process.
inline pid_t parent_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with("PPid:")) return static_cast<pid_t>(std::stol(line.substr(5)));
  return 0;
}

class [[nodiscard]] stopped_process {
 public:
  stopped_process(pid_t process, pid_t parent) : pidfd_(process > 0 ? open_process(process) : -1) {
    if (pidfd_ < 0) return;
    if (parent_of(process) == parent) send(SIGSTOP);
    else ::close(std::exchange(pidfd_, -1));
  }
  stopped_process(stopped_process&& other) noexcept : pidfd_(std::exchange(other.pidfd_, -1)) {}
  stopped_process& operator=(stopped_process&&) = delete;
  ~stopped_process() {
    if (pidfd_ < 0) return;
    send(SIGCONT);
    ::close(pidfd_);
  }

 private:
  static constexpr long pidfd_send_signal = 424, pidfd_open = 434;  // of every architecture

  static int open_process(pid_t process) noexcept { return static_cast<int>(::syscall(pidfd_open, process, 0)); }
  void send(int signal) const noexcept { ::syscall(pidfd_send_signal, pidfd_, signal, nullptr, 0); }

  int pidfd_;
};

// A server that with_servers.py has started: its process is a child of this process's parent. `variable` has its
// number.
inline pid_t server_process(const char* variable) {
  const char* const text = std::getenv(variable);
  const pid_t process = text ? static_cast<pid_t>(std::atol(text)) : 0;
  return process > 0 && parent_of(process) == ::getppid() ? process : 0;
}

}  // namespace hocket_test
