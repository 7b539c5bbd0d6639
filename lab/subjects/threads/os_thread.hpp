#pragma once
// What the subjects that are threads of the operating system share: handing over by futex, and the machine's limits.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

#include "harness.hpp"

namespace lab {

class baton {
 public:
  void pass() {
    word_.store(1, std::memory_order_release);
    syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void take() {
    while (word_.load(std::memory_order_acquire) == 0) {
      syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    }
    word_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> word_{0};
};

inline pthread_attr_t stack_attributes(std::size_t stack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::max<std::size_t>(stack, PTHREAD_STACK_MIN));
  return attributes;
}

inline unsigned long long number_in(const char* path) {
  std::FILE* f = std::fopen(path, "r");
  if (!f) return ULLONG_MAX;
  unsigned long long value = ULLONG_MAX;
  if (std::fscanf(f, "%llu", &value) != 1) value = ULLONG_MAX;  // "max" means no limit
  std::fclose(f);
  return value;
}

// A thread's stack and its guard are two mappings.
inline const char* refused_by(std::size_t n) {
  rlimit processes{};
  if (getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur < n + 100) return "ulimit -u is too small";
  if (number_in("/proc/sys/kernel/threads-max") < n + 1000) return "kernel.threads-max is too small";
  if (number_in("/proc/sys/kernel/pid_max") < n + 1000) return "kernel.pid_max is too small";
  if (number_in("/sys/fs/cgroup/pids.max") < n + 100) return "the cgroup's pids.max is too small";
  if (number_in("/proc/sys/vm/max_map_count") < 2 * n + 500) return "vm.max_map_count is too small";
  return nullptr;
}

}  // namespace lab
