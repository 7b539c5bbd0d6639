// Begins waits for fds, at the watch of this thread's driver.
#include <hocket/core/frame_memory.hpp>
#include <hocket/io/detail/fd_poll.hpp>
#include <io/driver_error.hpp>
#include <io/epoll_driver.hpp>
#include <io/fd_watch.hpp>

#include <cerrno>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::suspension;
using primitive::waiter;

namespace {

// The source of a wait without a watch.
class no_watch_source final : public primitive::wait_source {
 public:
  const char* what() const noexcept override { return "fds of poll_fds()"; }
  [[nodiscard]] bool detach(waiter&) noexcept override { return false; }
  void pass_on(waiter&) noexcept override {}
};
constinit no_watch_source no_watch;

}  // namespace

void poll_operation::begin(suspension& wait, waiter& entry) noexcept {
  entry.resource = this;
  const result<fd_watch*> current_watch = epoll_driver::watch_here();
  entry.enlist(wait, current_watch ? static_cast<primitive::wait_source&>(**current_watch) : no_watch);
  if (!current_watch) return fail(entry, errno_of(current_watch.error()));
  try {
    nodes = static_cast<polled_fd*>(allocate_frame((count + 1) * sizeof(polled_fd)));
  } catch (const std::bad_alloc&) {
    return fail(entry, ENOMEM);
  }
  if (const int error_number = (*current_watch)->add_wait(*this, entry)) fail(entry, error_number);
}

void readiness_operation::begin(suspension& wait, waiter& entry) noexcept {
  fds = &own;
  count = 1;
  if (own.fd >= 0) return poll_operation::begin(wait, entry);
  entry.enlist(wait, no_watch);  // a watch skips negative fds, so the wait would never end
  fail(entry, EBADF);
}

}}}  // namespace hocket::detail
