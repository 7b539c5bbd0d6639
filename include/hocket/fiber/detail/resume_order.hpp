// The order in which a thread resumes its raw coroutines, guessed.
//
// An owner of thousands waits for memory in every resume: a stack has a page of its own, which has left the caches and
// the translation buffer since it ran last. Who goes through all of them mostly does so in the order in which they were
// made, or the reverse, and the control blocks of those that were made one after the other are neighbours. So where a
// resume or an end follows that of a neighbour, the stack of the coroutine that comes eight later in that direction is
// asked for. It is what a hardware prefetcher does with strides (Baer and Chen, Supercomputing 1991), for what no
// hardware follows: from the block to the stack. A wrong guess costs some instructions and three cache lines.
// coroutine::prefetch() is for owners with another order; the loop knows its own (src/fiber/look_ahead.hpp).
//
// Up to fiber_thread::few coroutines all of it stays in the caches, and nothing is done: fiber_thread::rare, which a
// resume tests anyway, leads here only while there are more. Figures: docs/decisions/005.
#pragma once
#include <hocket/fiber/detail/control_block.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Prefetches for a later coroutine. `last`: the control block of the resume or end before.
void follow_order(std::byte*& last, control_block& block) noexcept;

// A raw coroutine is resumed or destroyed now.
inline void foresee(control_block& block) noexcept {
  fiber_thread& thread = block.thread();
  if (thread.live > fiber_thread::max_cached) follow_order(thread.last_resumed, block);
  else thread.rare = fiber_flag::at_resume;
}

}}}  // namespace hocket::detail
