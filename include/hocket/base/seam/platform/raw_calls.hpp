// hocket's own system calls, past the C library. hocket must not wait when it wakes a thread, polls a number or reports
// a fatal error; but a program may replace the C library's functions by others that wait (ext/hook).
//
// Each function returns what the C library's does, and sets errno.
//
// ThreadSanitizer knows only from the C library's functions that a write happens before its read. So these functions
// tell it.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

#include <cstddef>
#include <ctime>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__SANITIZE_THREAD__) || HOCKET_HAS_FEATURE(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#endif

namespace hocket { inline namespace HOCKET_ABI { namespace detail::raw_calls {

#if defined(__SANITIZE_THREAD__) || HOCKET_HAS_FEATURE(thread_sanitizer)
inline char marks[4096];  // one per number: its address stands for the bytes written to it
inline void before_write(int fd) noexcept { __tsan_release(&marks[static_cast<unsigned>(fd) % sizeof marks]); }
inline void after_read(int fd) noexcept { __tsan_acquire(&marks[static_cast<unsigned>(fd) % sizeof marks]); }
#else
inline void before_write(int) noexcept {}
inline void after_read(int) noexcept {}
#endif

inline long write(int fd, const void* from, std::size_t size) noexcept {
  before_write(fd);
  return ::syscall(SYS_write, fd, from, size);
}
inline long read(int fd, void* to, std::size_t size) noexcept {
  const long bytes = ::syscall(SYS_read, fd, to, size);
  if (bytes > 0) after_read(fd);
  return bytes;
}

inline long connect(int fd, const void* to, std::size_t size) noexcept { return ::syscall(SYS_connect, fd, to, size); }

// `milliseconds` below 0: no limit.
inline long poll(pollfd* numbers, std::size_t count, int milliseconds) noexcept {
  timespec limit{};
  limit.tv_sec = milliseconds / 1000;
  limit.tv_nsec = static_cast<long>(milliseconds % 1000) * 1000000;
  return ::syscall(SYS_ppoll, numbers, count, milliseconds < 0 ? nullptr : &limit, nullptr, 8);
}

}}}  // namespace hocket::detail::raw_calls
