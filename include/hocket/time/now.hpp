// now: the time, for deadlines that a program computes.
//
//   const time_point end = now() + 2s;
//   while (auto line = co_await within(end, reader.read_line())) use(*line);
//
// The time of the executor that runs the caller: with a clock of the program's own (manual_clock), that clock's. Waits
// and sleeps compare points in time with the same clock. On a thread that runs no coroutine, also in a call of
// blocking(), the machine's monotonic clock (std::chrono::steady_clock).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/detail/timer.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Reads the clock. Any thread.
inline time_point now() noexcept { return detail::time_here(); }

}}  // namespace hocket
