#include <io/platform/system_calls.hpp>

#include <hocket/base/seam/atomic.hpp>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/sendfile.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail::system_calls {

namespace {

constinit primitive::atomic<bool> has_nanoseconds{true};

int milliseconds_of(const timespec& limit) noexcept {
  constexpr std::int64_t longest = 1'000'000'000;
  const std::int64_t whole = std::min<std::int64_t>(limit.tv_sec, longest / 1000) * 1000;
  return static_cast<int>(whole + (limit.tv_nsec + 999'999) / 1'000'000);
}

}  // namespace

// epoll_pwait2 fails with ENOSYS if a sanitizer, Valgrind or an emulator does not support it, and with EPERM if a
// filter of system calls rejects it.
long await_events(int epoll, epoll_event* to, int most, const timespec* limit) noexcept {
  constexpr long epoll_pwait2 = 441;                            // on all architectures
  constexpr bool has_kernel_timespec = sizeof(timespec) == 16;  // false where seconds have 32 bits
  // ORDER: relaxed, pairs with nothing: a fact about the system.
  if (limit && has_kernel_timespec && !through_the_library && has_nanoseconds.load(std::memory_order_relaxed)) {
    const long rc = value_or_error(::syscall(epoll_pwait2, epoll, to, most, limit, nullptr, 8));
    if (rc != -ENOSYS && rc != -EPERM) return rc;
    // ORDER: relaxed, as above.
    has_nanoseconds.store(false, std::memory_order_relaxed);
  }
  const int at_most = limit ? milliseconds_of(*limit) : -1;
  if constexpr (through_the_library) return value_or_error(::epoll_wait(epoll, to, most, at_most));
  else return value_or_error(::syscall(SYS_epoll_pwait, epoll, to, most, at_most, nullptr, 8));
}

static void take_pending(int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  constexpr timespec at_once{};
  while (::sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) {
  }
}

// Returns the signal that a write may have raised; 0: none. If the reader of a blocking write closes in the middle, the
// write raises SIGPIPE, and returns the size of the first part.
static int signal_of(long written, std::size_t size) noexcept {
  if (written == -EFBIG) return SIGXFSZ;
  return written == -EPIPE || (written >= 0 && static_cast<std::size_t>(written) < size) ? SIGPIPE : 0;
}

// The system sends the signal to the thread that writes. The thread blocks it meanwhile, and then consumes it, unless
// it was pending before.
template <class Call>
static long without_signal(std::size_t size, const Call& write) noexcept {
  sigset_t blocked, before, pending;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGPIPE);
  sigaddset(&blocked, SIGXFSZ);
  sigemptyset(&pending);
  ::sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const long written = value_or_error(write());
  const int raised = signal_of(written, size);
  if (raised != 0 && sigismember(&pending, raised) == 0) take_pending(raised);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written;
}

long write_without_signal(int fd, const void* from, std::size_t size) noexcept {
  return without_signal(size, [=] { return ::write(fd, from, size); });
}
long write_without_signal(int fd, const iovec* parts, std::size_t count) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i != count; ++i) size += parts[i].iov_len;
  return without_signal(size, [=] { return ::writev(fd, parts, static_cast<int>(count)); });
}
long send_file_without_signal(int to, int file, std::uint64_t offset, std::size_t size) noexcept {
  off64_t position = static_cast<off64_t>(offset);
  return without_signal(size, [&] { return ::sendfile64(to, file, &position, size); });
}

bool is_hung_up(int fd) noexcept {
  pollfd current{fd, 0, 0};
  return ::poll(&current, 1, 0) > 0 && (current.revents & POLLHUP) != 0;
}

}}}  // namespace hocket::detail::system_calls
