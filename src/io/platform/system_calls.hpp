// The system calls of every request on a socket. Each returns the value of the kernel: an fd, a count, or a negative
// error number. Unlike the functions of the C library they are no cancellation points of pthread_cancel: a trial
// counted 115 instructions a request with cancellation points, and 20 without.
//
// With a sanitizer the calls go through the C library, where the sanitizer intercepts them.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail::system_calls {

inline constexpr bool through_the_library = sanitizer != sanitizer_kind::plain;

inline long value_or_error(long returned) noexcept { return returned < 0 ? -errno : returned; }

// Sockets need not be non-blocking: standard_streams.hpp.
inline long receive(int fd, void* to, std::size_t size) noexcept {
  if constexpr (through_the_library) return value_or_error(::recv(fd, to, size, MSG_DONTWAIT));
  else return value_or_error(::syscall(SYS_recvfrom, fd, to, size, MSG_DONTWAIT, nullptr, nullptr));
}

// A write to a connection that the peer has closed fails, and raises no signal.
inline constexpr int send_flags = MSG_NOSIGNAL | MSG_DONTWAIT;
// `more`: 0 or MSG_MORE.
inline long send(int fd, const void* from, std::size_t size, int more) noexcept {
  const int flags = send_flags | more;
  if constexpr (through_the_library) return value_or_error(::send(fd, from, size, flags));
  else return value_or_error(::syscall(SYS_sendto, fd, from, size, flags, nullptr, 0));
}

// Returns the pending events of an epoll, without waiting.
inline long events_of(int epoll, epoll_event* to, int most) noexcept {
  if constexpr (through_the_library) return value_or_error(::epoll_wait(epoll, to, most, 0));
  else return value_or_error(::syscall(SYS_epoll_pwait, epoll, to, most, 0, nullptr, 8));
}

// Like events_of(), and waits for events, at most for `limit`; null: without limit. The limit is exact to the
// nanosecond; before Linux 5.11 it is rounded up to a millisecond.
long await_events(int epoll, epoll_event* to, int most, const timespec* limit) noexcept;

// write(2) that fails without a signal. The system raises SIGPIPE if the reader of a pipe is closed, and SIGXFSZ beyond
// RLIMIT_FSIZE, and no flag prevents them.
long write_without_signal(int fd, const void* from, std::size_t size) noexcept;
// As above, with writev(2).
long write_without_signal(int fd, const iovec* parts, std::size_t count) noexcept;
// As above, with sendfile(2).
long send_file_without_signal(int to, int file, std::uint64_t offset, std::size_t size) noexcept;

// Whether the other side is closed. A terminal then fails each read with EIO.
bool is_hung_up(int fd) noexcept;

}}}  // namespace hocket::detail::system_calls
