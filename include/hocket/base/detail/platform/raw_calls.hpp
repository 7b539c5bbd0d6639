// System calls of hocket's own, past the C library: what wakes a thread, looks at a number or tells of a fatal error
// must be the call itself. A program may have functions of the same names in front of the library's (ext/hook), which
// wait.
//
// Each returns what the C library's does, and sets errno.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

#include <cstddef>
#include <ctime>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket::inline HOCKET_ABI::detail::raw_calls {

inline long write(int fd, const void* from, std::size_t size) noexcept { return ::syscall(SYS_write, fd, from, size); }
inline long read(int fd, void* to, std::size_t size) noexcept { return ::syscall(SYS_read, fd, to, size); }

inline long connect(int fd, const void* to, std::size_t size) noexcept { return ::syscall(SYS_connect, fd, to, size); }

// `milliseconds` below 0: for ever.
inline long poll(pollfd* numbers, std::size_t count, int milliseconds) noexcept {
  timespec limit{};
  limit.tv_sec = milliseconds / 1000;
  limit.tv_nsec = static_cast<long>(milliseconds % 1000) * 1000000;
  return ::syscall(SYS_ppoll, numbers, count, milliseconds < 0 ? nullptr : &limit, nullptr, 8);
}

}  // namespace hocket::inline HOCKET_ABI::detail::raw_calls
