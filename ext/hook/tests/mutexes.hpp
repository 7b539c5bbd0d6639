// Shared by the tests of hooked mutexes.
#pragma once
#include <pthread.h>
#include <time.h>

#include "blocking.hpp"

namespace hooked_tests {

// TSan reports a second unlock as a fault, and tracks 64 mutexes per thread.
inline constexpr bool under_tsan = hocket::detail::sanitizer == hocket::detail::sanitizer_kind::tsan;

inline constexpr hook::options with_mutexes{.mutexes = true};

struct kind {
  explicit kind(int which) {
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    ::pthread_mutexattr_settype(&attributes, which);
    REQUIRE(::pthread_mutex_init(&mutex, &attributes) == 0);
    ::pthread_mutexattr_destroy(&attributes);
  }
  kind(const kind&) = delete;
  kind& operator=(const kind&) = delete;
  ~kind() { ::pthread_mutex_destroy(&mutex); }
  pthread_mutex_t mutex;
};

inline constexpr int all_kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                    PTHREAD_MUTEX_ADAPTIVE_NP};

// Parks, so that other fibers run.
inline void others_run() {
  for (int turn = 0; turn < 3; ++turn) await(yield());
}

template <class F>
auto own(loop& lp, F f) {
  return spawn(lp, hook::hooked(std::move(f), with_mutexes));
}

inline timespec in(clockid_t clock, long milliseconds) {
  timespec time{};
  ::clock_gettime(clock, &time);
  const long nanoseconds = time.tv_nsec + milliseconds * 1'000'000;
  return {time.tv_sec + nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
}

}  // namespace hooked_tests
