// How much of its stack a coroutine has used: to choose a size (docs/choosing-a-stack-size.md).
//
//   int main() {
//     measure_stacks(true);                       // before the first coroutine
//     run(everything_that_the_service_does);
//     log(fiber_stack_statistics().high_water);   // bytes, of the deepest fiber of this thread
//
// What counts as used, and what measuring costs: stack/detail/high_water.hpp.
#pragma once
#include <hocket/stack/stack_pool.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Whether the pools measure that threads make from now on for spawned fibers, for coroutines that name no pool, and for
// call_on_big_stack. A pool of your own measures if its options say so. Off at first. Any thread.
void measure_stacks(bool on) noexcept;

// Of this thread's pool for spawned fibers of that stack_size (0: the default, as in spawn_options). Throws bad_alloc.
stack_statistics fiber_stack_statistics(std::size_t stack_size = 0);

// The deepest use so far, in bytes, of the stack of the fiber or coroutine that calls; 0 where none runs. An upper
// bound where its pool does not measure. A call_on_stack in progress does not count: that is another stack.
std::size_t stack_high_water() noexcept;

}}  // namespace hocket
