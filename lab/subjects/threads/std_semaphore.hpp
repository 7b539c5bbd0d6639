#pragma once
// A semaphore of POSIX for std_thread.cpp.
#include <semaphore.h>

#include <cerrno>
#include <ctime>

#include "primitives/primitives.hpp"

namespace lab {

class semaphore {
 public:
  explicit semaphore(unsigned permits) {
    if (sem_init(&inner_, 0, permits) != 0) lab::fail("no semaphore");
  }
  ~semaphore() { sem_destroy(&inner_); }

  void acquire() {
    while (sem_wait(&inner_) != 0) {
    }
  }
  // Whether there was a permit within that time.
  bool acquire_within(std::chrono::nanoseconds time) {
    constexpr std::int64_t second = 1000000000;
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const std::int64_t ns = until.tv_nsec + time.count();
    until.tv_sec += ns / second;
    until.tv_nsec = ns % second;
    int status;
    do {
      status = sem_clockwait(&inner_, CLOCK_MONOTONIC, &until);
    } while (status != 0 && errno == EINTR);
    return status == 0;
  }
  void release() { sem_post(&inner_); }

 private:
  sem_t inner_;
};

}  // namespace lab
