// Linux futexes: the one way in which hocket blocks a thread. And the hint for the moments in which it spins.
#include <hocket/base/seam/asleep.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

static_assert(sizeof(atomic<std::uint32_t>) == 4, "a futex word is the atomic's own four bytes");

void futex(const atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// The kernel's timespec, with room for 292 years of nanoseconds, in seconds: a system of 32 bits has a call for it.
struct kernel_timespec {
  std::int64_t seconds;
  std::int64_t nanoseconds;
};
#ifdef SYS_futex_time64
constexpr long futex_with_limit = SYS_futex_time64;
#else
static_assert(sizeof(::timespec) == sizeof(kernel_timespec));
constexpr long futex_with_limit = SYS_futex;
#endif

// The kernel refuses a time before the clock's zero: that one has been over for as long as any other in the past.
kernel_timespec absolute(time_point when) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t nanoseconds = std::max<std::int64_t>(when.time_since_epoch().count(), 0);
  return {nanoseconds / second, nanoseconds % second};
}

}  // namespace

constinit atomic<sleep_wrapper> wraps_sleep{nullptr};

void cpu_relax() noexcept {
#if (defined(__x86_64__) || defined(__i386__)) && !HOCKET_PORTABLE
  __builtin_ia32_pause();
#endif
}

void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  asleep([&] { futex(word, FUTEX_WAIT_PRIVATE, expected); });
}
bool futex_wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected, time_point deadline) noexcept {
  if (deadline == time_point::max()) {
    futex_wait(word, expected);
    return true;
  }
  // Of the two waits that take a limit this is the one with an absolute time, on CLOCK_MONOTONIC, which is
  // steady_clock.
  const kernel_timespec limit = absolute(deadline);
  bool in_time = true;
  asleep([&] {
    in_time = ::syscall(futex_with_limit, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, &limit, nullptr,
                        FUTEX_BITSET_MATCH_ANY) == 0 ||
              errno != ETIMEDOUT;
  });
  return in_time;
}
void futex_wake_one(const atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE_PRIVATE, 1); }
void futex_wake_all(const atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE_PRIVATE, INT_MAX); }

}}}  // namespace hocket::detail
