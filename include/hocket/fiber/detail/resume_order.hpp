// Predicts the order in which a thread resumes its raw coroutines.
//
// An owner of thousands of coroutines waits for memory at every resume: each stack has its own page, which has left the
// caches and the translation buffer since its last run. An owner mostly resumes all of them in the order of their
// creation, or the reverse, and control blocks of successive creations are neighbours. So if a resume or an end follows
// that of a neighbour, the stack of the coroutine eight steps later in that direction is prefetched. A hardware
// prefetcher does the same with strides (Baer and Chen, Supercomputing 1991); no hardware follows the pointer from the
// block to the stack. A wrong prediction costs some instructions and three cache lines. coroutine::prefetch() is for
// owners with another order; the loop knows its own order (src/fiber/look_ahead.hpp).
//
// Up to fiber_thread::max_cached coroutines everything stays in the caches, and nothing is done: fiber_thread::rare,
// which a resume tests anyway, leads here only while there are more. Figures: docs/decisions/005.
#pragma once
#include <hocket/fiber/detail/control_block.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Prefetches for a later coroutine. `last`: the control block of the resume or end before.
void follow_order(std::byte*& last, control_block& block) noexcept;

// Called when a raw coroutine is resumed or destroyed.
inline void foresee(control_block& block) noexcept {
  fiber_thread& thread = block.thread();
  if (thread.live > fiber_thread::max_cached) follow_order(thread.last_resumed, block);
  else thread.rare = fiber_flag::at_resume;
}

}}}  // namespace hocket::detail
