// Measures the stack use of coroutines, to choose a stack size (docs/choosing-a-stack-size.md).
//
//   int main() {
//     measure_stacks(true);                       // before the first coroutine
//     run(everything_that_the_service_does);
//     log(fiber_stack_statistics().high_water);   // bytes, of the deepest fiber of this thread
//
// stack/seam/inspection.hpp defines the measured use and its cost.
#pragma once
#include <hocket/stack/stack_pool.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Sets whether pools that threads create from now on measure: the pools for spawned fibers, for coroutines without a
// pool option, and for call_on_big_stack. Your own pool measures if its options say so. Off by default. Any thread.
void measure_stacks(bool on) noexcept;

// Returns the statistics of this thread's pool for spawned fibers of that stack_size (0: the default, as in
// spawn_options). Throws std::bad_alloc.
stack_statistics fiber_stack_statistics(std::size_t stack_size = 0);

// Returns the deepest use so far, in bytes, of the calling fiber's or coroutine's stack; 0 outside of both. If the pool
// does not measure, it is an upper bound. The stack of a call_on_stack in progress does not count.
std::size_t stack_high_water() noexcept;

}}  // namespace hocket
