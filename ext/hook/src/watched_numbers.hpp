// Which numbers hooked fibers wait for. close() reads this, also in a signal handler, before it wakes a fiber.
//
// Lock-free counters; numbers with equal low bits share one. A zero counter means no waits. A nonzero counter may
// belong to another number: then stop_polling() finds no wait, under its lock.
//
// Hazard: if a fiber counts itself after close() has read the counter and before the number is closed, then the fiber
// sleeps for ever, because close() saw no wait. Prevented by retry(): close() reads again after the number is closed,
// and a woken fiber tries its call again. It finds EBADF, or the new file with that number.
//
// A child of fork() has no waits, so its counters are set to zero. There close() must be async-signal-safe: it must not
// take a lock that another thread held at the fork.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

#include <poll.h>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Lives while a fiber waits for a number.
class watched_number {
 public:
  explicit watched_number(int number) noexcept;
  watched_number(const watched_number&) = delete;
  watched_number& operator=(const watched_number&) = delete;
  ~watched_number();

 private:
  const int number_;
};

// Lives while a fiber waits for several.
class watched_numbers {
 public:
  explicit watched_numbers(std::span<const pollfd> all) noexcept;
  watched_numbers(const watched_numbers&) = delete;
  watched_numbers& operator=(const watched_numbers&) = delete;
  ~watched_numbers();

 private:
  const std::span<const pollfd> all_;
};

// Before a number is closed: its waits end with EBADF. Async-signal-safe: in a handler it wakes no fiber.
void forget(int number) noexcept;
// forget() for all numbers from the first to the last.
void forget(unsigned first, unsigned last) noexcept;
// After a number was closed: its waiters try again.
void retry(int number) noexcept;

void forget_all_in_child() noexcept;

}}}  // namespace hocket::hook
