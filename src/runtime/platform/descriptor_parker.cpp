#include <hocket/base/clock.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/runtime/descriptor_parker.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace hocket::inline HOCKET_ABI {

using namespace detail;

namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::seconds;

int new_eventfd() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::system_category(), "eventfd");
  return fd;
}

// What is left until then, at most a day: a timespec of 32 bits can say that, and a longer wait is several.
duration left_until(time_point until, time_point now) noexcept {
  if (until <= now) return duration::zero();
  return until > deadline_after(now, days(1)) ? duration(days(1)) : until - now;
}

void wait_readable(int fd, duration at_most) noexcept {
  const auto whole = std::chrono::duration_cast<seconds>(at_most);
  timespec limit{};
  limit.tv_sec = static_cast<std::time_t>(whole.count());
  limit.tv_nsec = static_cast<long>((at_most - whole).count());
  pollfd reading{fd, POLLIN, 0};
  static_cast<void>(::ppoll(&reading, 1, &limit, nullptr));  // a signal may end it: the caller looks again
}

// Whether there was a wake; it is taken.
bool take_wake(int fd) noexcept {
  std::uint64_t wakes = 0;
  if (::read(fd, &wakes, sizeof wakes) == sizeof wakes) return true;
  expects(errno == EAGAIN || errno == EINTR, "the descriptor of a parker cannot be read",
          "leave it to the parker: it may be watched, but not closed or used");
  return false;
}

}  // namespace

descriptor_parker::descriptor_parker() : fd_(new_eventfd()) {}

descriptor_parker::~descriptor_parker() { ::close(fd_); }

bool descriptor_parker::park(time_point until) noexcept {
  while (!take_wake(fd_)) {
    const time_point now = steady_clock().now();
    if (until <= now) return false;
    wait_readable(fd_, left_until(until, now));
  }
  return true;
}

// As soon as the write has its effect this may be destroyed: the system call keeps the file, and nothing else is used.
void descriptor_parker::wake() noexcept {
  const int kept = errno;
  const int fd = fd_;
  const std::uint64_t one = 1;
  const auto written = ::write(fd, &one, sizeof one);  // never full: one wake for each sleep
  expects(written == sizeof one, "the descriptor of a parker cannot be written",
          "leave it to the parker: it may be watched, but not closed or used");
  errno = kept;
}

int poll_timeout(time_point until, time_point now) noexcept {
  if (until == time_point::max()) return -1;
  if (until <= now) return 0;
  const time_point farthest = deadline_after(now, milliseconds(INT_MAX));
  return static_cast<int>(std::chrono::ceil<milliseconds>(std::min(until, farthest) - now).count());
}

}  // namespace hocket::inline HOCKET_ABI
