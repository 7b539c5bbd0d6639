// How deep a stack has been used: the distance from its top to the lowest word that is not zero.
//
// Memory of a stack that was never used is zero. With stack_options::measure it is so for every coroutine: a stack that
// comes back is measured, and its memory given up, so that the next one starts with zeros. Nothing is painted, and a
// pool that does not measure does nothing of this. What is measured is what was written: a local array that nobody
// wrote to, and below which nothing was called, does not count; memory that was swapped out is not seen.
//
// Costs, of a pool that measures: some microseconds at the end of each coroutine, and the page faults of the next one.
// Where fibers are threads (HOCKET_BACKEND=thread) their frames lie elsewhere: the figures mean nothing there.
#pragma once
#include <hocket/stack/stack_pool.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// In bytes; 0: never written. Of a stack that somebody runs or is parked on it is the use so far. Of a pool that does
// not measure it is an upper bound: whoever had the stack before has left traces. Any thread, if the stack stays
// acquired. O(pages) without touching memory that is not there. Async-signal-safe.
std::size_t high_water_of(const stack_ref& stack) noexcept;

}}}  // namespace hocket::detail
