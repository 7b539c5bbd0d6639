// The system calls of every request on a socket, in one place. Each returns what the kernel does: an fd, or an error
// number below 0. They are no points of cancellation for pthread_cancel, as the C library's are: a trial counted 115
// instructions a request for those, and 20 without.
//
// Sanitizers must see the calls, which they do through the C library.
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

// A connection that the peer has closed is an error, and no signal.
inline constexpr int send_flags = MSG_NOSIGNAL | MSG_DONTWAIT;
// `more`: 0 or MSG_MORE.
inline long send(int fd, const void* from, std::size_t size, int more) noexcept {
  const int flags = send_flags | more;
  if constexpr (through_the_library) return value_or_error(::send(fd, from, size, flags));
  else return value_or_error(::syscall(SYS_sendto, fd, from, size, flags, nullptr, 0));
}

// What has happened at the descriptors of an epoll, without waiting.
inline long events_of(int epoll, epoll_event* to, int most) noexcept {
  if constexpr (through_the_library) return value_or_error(::epoll_wait(epoll, to, most, 0));
  else return value_or_error(::syscall(SYS_epoll_pwait, epoll, to, most, 0, nullptr, 8));
}

// The same, and waits for them within `limit`; null: for ever. To the nanosecond, or before Linux 5.11 to the
// millisecond, rounded up.
long await_events(int epoll, epoll_event* to, int most, const timespec* limit) noexcept;

// write(2) to a pipe whose reader is gone raises SIGPIPE, and beyond RLIMIT_FSIZE SIGXFSZ. There is no flag against it:
// an error, and no signal.
long write_without_signal(int fd, const void* from, std::size_t size) noexcept;
// The same with writev(2).
long write_without_signal(int fd, const iovec* parts, std::size_t count) noexcept;
// And sendfile(2).
long send_file_without_signal(int to, int file, std::uint64_t offset, std::size_t size) noexcept;

// Its other side is gone. A terminal then fails each read with EIO.
bool is_hung_up(int fd) noexcept;

}}}  // namespace hocket::detail::system_calls
