// Which numbers hooked fibers wait for. close() reads this, also in a signal handler, before it wakes a fiber.
//
// Lock-free counters; numbers with equal low bits share one. A zero counter means no waits. A nonzero counter may
// belong to another number: then stop_polling() finds no wait, under its lock.
//
// Hazard: if a fiber counts itself after close() has read the counter and before the fd is closed, then the fiber
// sleeps for ever, because close() saw no wait. Prevented by retry(): close() reads again after the fd is closed,
// and a woken fiber tries its call again. It finds EBADF, or the new file with that number.
//
// Closes of watched numbers are counted, and each slot holds the last close of its numbers:
//
//   bits 0..23   the number
//   bits 24..    the count of that close, from 1
//
// So a fiber that was ended in a wait knows whether its number was closed after the wait began, and may belong to
// another file. If two numbers of a slot were closed, then the earlier close is forgotten, and the fiber takes its
// number for open. That is the safe direction: it marks a socket without need (marked_sockets.hpp).
//
// A child of fork() has no waits, so its counters are set to zero. There close() must be async-signal-safe: it must not
// take a lock that another thread held at the fork. Until the counters are zero, a close() by another handler of the
// child finds that this is not the process that counted.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

#include <cstdint>
#include <poll.h>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Lives while a fiber waits for an fd.
class watched_fd {
 public:
  explicit watched_fd(int fd) noexcept;
  watched_fd(const watched_fd&) = delete;
  watched_fd& operator=(const watched_fd&) = delete;
  ~watched_fd();

 private:
  const int fd_;
};

// Lives while a fiber waits for several.
class watched_fds {
 public:
  explicit watched_fds(std::span<const pollfd> all) noexcept;
  watched_fds(const watched_fds&) = delete;
  watched_fds& operator=(const watched_fds&) = delete;
  ~watched_fds();

 private:
  const std::span<const pollfd> all_;
};

using close_count = std::uint64_t;
// The count of the last close of any watched number.
close_count last_close() noexcept;
// Whether this number was closed after that close, while a fiber waited for it.
bool was_closed_after(int fd, close_count begin) noexcept;

// Before an fd is closed: its waits end with EBADF. Async-signal-safe: in a handler it wakes no fiber.
void forget(int fd) noexcept;
// forget() for all numbers from the first to the last.
void forget(unsigned first, unsigned last) noexcept;
// After an fd was closed, or its socket was marked: its waiters try again.
void retry(int fd) noexcept;

// The waits belong to the calling process.
void set_process() noexcept;
void forget_all_in_child() noexcept;

}}}  // namespace hocket::hook
