// What is to be done now and then on threads that run coroutines: frames that decay (frame_memory.hpp), and what a
// layer that core does not know wants done: stacks that decay. That layer has one function in the process.
//
// An executor asks before its thread sleeps, and once in a while where it never does. It is no timer: nothing is
// attached to anybody, so it holds no loop open and needs no end.
#pragma once
#include <hocket/base/clock.hpp>

namespace hocket::inline HOCKET_ABI::detail {

// Does what is due on this thread by that clock, for a millisecond or so. Returns in what time it wants to be called
// again; duration::max() if not before something happens on the thread.
using housekeeping = duration (*)(const clock_source& time) noexcept;

// Any thread.
void register_housekeeping(housekeeping function) noexcept;

// By an executor, on its thread, between two resumes. time_point::max(): no need to come back.
time_point keep_house(const clock_source& time) noexcept;

}  // namespace hocket::inline HOCKET_ABI::detail
