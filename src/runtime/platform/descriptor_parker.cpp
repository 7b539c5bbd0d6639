#include <hocket/base/clock.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/asleep.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/own_fds.hpp>
#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/runtime/descriptor_parker.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::seconds;

int new_epoll() {
  const int epoll = own_fd(::epoll_create1(EPOLL_CLOEXEC));
  if (epoll < 0) throw std::system_error(errno, std::system_category(), "epoll_create1");
  return epoll;
}

// Returns 0, or the error number.
int add_to(int epoll, int fd) noexcept {
  epoll_event reading{};
  reading.events = EPOLLIN;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &reading) == 0 ? 0 : errno;
}

int new_event(int epoll) {
  const int event = own_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int error = event < 0 ? errno : add_to(epoll, event);
  if (error == 0) return event;
  if (event >= 0) ::close(event);
  ::close(epoll);
  throw std::system_error(error, std::system_category(), "eventfd");
}

duration left_until(time_point until, time_point now) noexcept {
  if (until <= now) return duration::zero();
  return until == time_point::max() ? duration::max() : until - now;
}

// False: not readable, or a signal ended the wait.
bool wait_readable(int fd, duration at_most) noexcept {
  at_most = std::min<duration>(at_most, days(1));  // fits into a timespec of 32 bits; a longer wait is several waits
  const auto whole = std::chrono::duration_cast<seconds>(at_most);
  timespec limit{};
  limit.tv_sec = static_cast<std::time_t>(whole.count());
  limit.tv_nsec = static_cast<long>((at_most - whole).count());
  pollfd reading{fd, POLLIN, 0};
  bool ready = false;
  asleep([&] { ready = ::ppoll(&reading, 1, &limit, nullptr) > 0; });
  expects(!ready || (reading.revents & POLLNVAL) == 0, "the descriptor of a parker cannot be waited at",
          "leave it to the parker: it may be watched, but not closed or used");
  return ready;
}

// Whether there was a wake; it is taken.
bool take_wake(int fd) noexcept {
  std::uint64_t wakes = 0;
  if (raw_calls::read(fd, &wakes, sizeof wakes) == sizeof wakes) return true;
  expects(errno == EAGAIN || errno == EINTR, "the descriptor of a parker cannot be read",
          "leave it to the parker: it may be watched, but not closed or used");
  return false;
}

}  // namespace

descriptor_parker::descriptor_parker() : epoll_(new_epoll()), event_(new_event(epoll_)), forks_(forks_so_far()) {}

descriptor_parker::~descriptor_parker() {
  ::close(event_);
  ::close(epoll_);
}

bool descriptor_parker::is_copy_in_child() const noexcept { return forks_ != forks_so_far(); }

bool descriptor_parker::park(time_point until) noexcept {
  expects(!is_copy_in_child(), "a descriptor_parker was used in a child of the process that made it",
          "make another one in the child, for a loop of its own");
  for (bool watched = false; !take_wake(event_);
       watched = wait_readable(epoll_, left_until(until, steady_clock().now()))) {
    if (watched || until <= steady_clock().now()) return false;
  }
  return true;
}

// What is watched may be readable meanwhile, so only the eventfd counts.
void descriptor_parker::await_wake() noexcept {
  while (!take_wake(event_)) wait_readable(event_, duration::max());
}

std::error_code descriptor_parker::watch(int descriptor) noexcept {
  if (is_copy_in_child()) return std::make_error_code(std::errc::not_supported);
  const int wrong = add_to(epoll_, descriptor);
  return wrong == 0 ? std::error_code{} : std::error_code(wrong, std::system_category());
}

void descriptor_parker::unwatch(int descriptor) noexcept {
  if (!is_copy_in_child()) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

// As soon as the write has its effect this may be destroyed: the system call keeps the file, and nothing else is used.
void descriptor_parker::wake() noexcept {
  if (is_copy_in_child()) return;
  const int saved_errno = errno;
  const int fd = event_;
  const std::uint64_t increment = 1;
  const auto written = raw_calls::write(fd, &increment, sizeof increment);  // never full: one wake for each sleep
  expects(written == sizeof increment, "the descriptor of a parker cannot be written",
          "leave it to the parker: it may be watched, but not closed or used");
  errno = saved_errno;
}

int poll_timeout(time_point until, time_point now) noexcept {
  if (until == time_point::max()) return -1;
  if (until <= now) return 0;
  const time_point farthest = deadline_after(now, milliseconds(INT_MAX));
  return static_cast<int>(std::chrono::ceil<milliseconds>(std::min(until, farthest) - now).count());
}

}}  // namespace hocket
