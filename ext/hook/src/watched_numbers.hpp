// Which numbers hooked fibers wait for: what close() asks, also in a signal handler, before it wakes anybody.
//
// Counters without a lock, each for all numbers with the same low bits. A counter that is zero says that nobody waits.
// One that is not zero may be another number's: then stop_polling() finds no wait, under its lock.
//
// Hazard: a fiber counts itself and registers after close() has looked, and before the number is closed. Then nobody
// wakes it. So close() looks again when the number is closed: retry(). A fiber that is woken so tries its call again,
// and finds EBADF, or the file that has the number now.
//
// In a child by fork() nobody waits: its copy of the counters is set to zero, so that close(), which is
// async-signal-safe there, takes no lock that another thread had.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

#include <poll.h>
#include <span>

namespace hocket::inline HOCKET_ABI::hook {

// While a fiber waits for a number.
class watched_number {
 public:
  explicit watched_number(int number) noexcept;
  watched_number(const watched_number&) = delete;
  watched_number& operator=(const watched_number&) = delete;
  ~watched_number();

 private:
  const int number_;
};

// The same for several.
class watched_numbers {
 public:
  explicit watched_numbers(std::span<const pollfd> all) noexcept;
  watched_numbers(const watched_numbers&) = delete;
  watched_numbers& operator=(const watched_numbers&) = delete;
  ~watched_numbers();

 private:
  const std::span<const pollfd> all_;
};

// A number is about to be closed: the waits for it end with EBADF. Async-signal-safe: in a handler nobody is woken.
void forget(int number) noexcept;
// The same for all from the first to the last.
void forget(unsigned first, unsigned last) noexcept;
// A number was closed: who waits for it tries again.
void retry(int number) noexcept;

void forget_all_in_child() noexcept;

}  // namespace hocket::inline HOCKET_ABI::hook
