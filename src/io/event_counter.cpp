#include <hocket/base/seam/own_fds.hpp>
#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/io/event_counter.hpp>

#include <cerrno>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

// May run in a signal handler, so it preserves errno.
int add_to_counter(open_descriptor& record, std::uint32_t generation, std::uint64_t count) noexcept {
  const int saved_errno = errno;
  int error = EBADF;
  if (const used_fd fd(record, generation); fd.is_open()) {
    ssize_t written = 0;
    do written = raw_calls::write(*fd, &count, sizeof count);
    while (written < 0 && errno == EINTR);
    error = written < 0 ? errno : 0;
  }
  errno = saved_errno;
  return error;
}

void count_operation::resumed() noexcept {
  if (done != 0) static_cast<void>(add_to_counter(side->record(), generation, count));
  done = 0;
}

}  // namespace detail

result<event_counter> event_counter::make() noexcept {
  const int fd = own_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (fd < 0) return failure_of_transfer(errno);
  result<descriptor> owner = take_over(fd, descriptor_kind::other);
  if (!owner) {
    ::close(fd);
    return failure(owner.error());
  }
  return event_counter(std::move(*owner));
}

// The mode of an eventfd has no type. If the fd is a pipe, a file or a device, add() would write bytes to it.
result<event_counter> event_counter::adopt(int fd) noexcept {
  struct stat facts{};
  if (::fstat(fd, &facts) != 0) return failure_of_transfer(errno);
  if ((facts.st_mode & S_IFMT) != 0) return failure_of_transfer(EINVAL);
  result<descriptor> owner = descriptor::adopt(fd);
  if (!owner) return failure(owner.error());
  return event_counter(std::move(*owner));
}

result<void> event_counter::add(std::uint64_t count) noexcept {
  if (const int error = add_to_counter(record(), record().generation(), count)) return failure_of_transfer(error);
  return {};
}

}}  // namespace hocket
