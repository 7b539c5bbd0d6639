#include <hocket/base/seam/own_fds.hpp>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

void close_quietly(int fd) noexcept {
  const int saved = errno;
  if (fd >= 0) ::close(fd);
  errno = saved;
}

}  // namespace

int move_behind_standard(int fd) noexcept {
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, first_own_fd);
  close_quietly(fd);
  return moved;
}

int own_fds(int returned, std::array<int, 2>& ends) noexcept {
  if (returned != 0) return returned;
  for (int& end : ends) end = own_fd(end);
  if (ends[0] >= 0 && ends[1] >= 0) return 0;
  for (const int end : ends) close_quietly(end);
  return -1;
}

}}}  // namespace hocket::detail
