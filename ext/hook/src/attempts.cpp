#include "attempts.hpp"

#include <hocket/base/clock.hpp>

#include "next.hpp"
#include "socket_limits.hpp"
#include "watched_fds.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

bool blocks(int fd) noexcept {
  const int flags = raw::fcntl(fd, F_GETFL, nullptr);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

time_point limit_of(int fd, int option) noexcept {
  if (!sockets_have_limits()) return time_point::max();
  timeval limit{};
  socklen_t size = sizeof limit;
  if (::syscall(SYS_getsockopt, fd, SOL_SOCKET, option, &limit, &size) != 0) return time_point::max();
  const duration time = std::chrono::seconds(limit.tv_sec) + std::chrono::microseconds(limit.tv_usec);
  return time == duration::zero() ? time_point::max() : deadline_after(now(), time);
}

wait_result retry_wait::wait_once() noexcept {
  constexpr int unpaced = 4;
  if (spurious_wakeups_ < unpaced) {
    ++spurious_wakeups_;
    return wait_for(fd_, events_of(way_), limit_);
  }
  if (now() >= limit_) return wait_result::late;
  const auto pause = std::chrono::milliseconds(1 << std::min(spurious_wakeups_++ - unpaced, 6));
  const watched_fd watched(fd_);
  return wait_until(std::min(limit_, deadline_after(now(), pause)));
}

bool retry_wait::wait() noexcept {
  if (!began_) {
    began_ = true;
    if (!blocks(fd_)) {
      errno = EAGAIN;
      return false;
    }
    limit_ = limit_of(fd_, limit_option_of(way_));
  }
  const close_count begin = last_close();
  const wait_result end = wait_once();
  if (end == wait_result::late) errno = EAGAIN;
  if (end == wait_result::ended) abandon(fd_, begin);
  return end == wait_result::ready && !is_refused(fd_);
}

}}}  // namespace hocket::hook
