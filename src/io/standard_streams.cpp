#include <hocket/base/seam/own_fds.hpp>
#include <hocket/io/standard_streams.hpp>
#include <hocket/io/unique_fd.hpp>

#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

// False for the master of a pseudo-terminal: a second open makes another pseudo-terminal.
bool can_be_reopened(int fd, mode_t mode) noexcept {
  if (S_ISFIFO(mode)) return true;
  unsigned master = 0;
  return S_ISCHR(mode) && ::isatty(fd) == 1 && ::ioctl(fd, TIOCGPTN, &master) != 0;
}

int reopen(int fd, int access) noexcept {
  char path[] = "/proc/self/fd/0";
  path[sizeof path - 2] = static_cast<char>('0' + fd);
  return own_fd(::open(path, access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

result<stream> stream_of(unique_fd fd, descriptor_kind kind) noexcept {
  result<descriptor> owner = descriptor_access::take_over(fd.native_handle(), kind);
  if (!owner) return failure(owner.error());
  fd.release();
  return stream(std::move(*owner));
}

descriptor_kind kind_of_copy(mode_t mode) noexcept {
  if (S_ISSOCK(mode)) return descriptor_kind::socket;
  return S_ISREG(mode) ? descriptor_kind::other : descriptor_kind::shared;
}

result<stream> standard_stream(int fd, int access) noexcept {
  struct stat facts{};
  if (::fstat(fd, &facts) != 0) return failure_of_transfer(errno);
  if (can_be_reopened(fd, facts.st_mode)) {
    if (unique_fd own(reopen(fd, access)); own) return stream_of(std::move(own), descriptor_kind::other);
  }
  unique_fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, first_own_fd));
  if (!copy) return failure_of_transfer(errno);
  return stream_of(std::move(copy), kind_of_copy(facts.st_mode));
}

}  // namespace

result<stream> standard_input() noexcept { return standard_stream(0, O_RDONLY); }
result<stream> standard_output() noexcept { return standard_stream(1, O_WRONLY); }
result<stream> standard_error() noexcept { return standard_stream(2, O_WRONLY); }

}}  // namespace hocket
