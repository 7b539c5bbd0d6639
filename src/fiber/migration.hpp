// Fibers that migrate: spawned as `migratable` on a runtime, they go on at whatever of its workers takes them.
//
// A fiber's thread is in its control block, and its stack's pool in its record. A worker that resumes a migrating fiber
// makes both its own first (bring_here()), and then resumes it like any other. In between two runs it is nobody's:
//
//   running     its block names the thread that it runs on
//   parked      it names the thread that it ran on last, which may be gone on to other things, and is not asked
//
// Hazards. *Two at once*: the block is written by who has the right to resume, that is, by who took the handle out of a
// queue; what orders them is what ordered the wake-up. *The worker it has left*: after its request has been published
// that worker touches nothing of it (scheduled_fiber.hpp), and knows of it no more: fiber_thread::live counts the
// fibers that may keep the thread's state alive, and one that migrates is not among them, since its runtime outlives
// it. *No memory*: a worker that has never run a fiber has no state for them, and where there is no memory to make it
// the fiber goes back to the queue. *What is on its stack of a thread*: code between two switches asks anew for the
// thread that it is on (core/thread/seam/current.hpp). The exception state moves along, in the record; a call on a
// big stack of the thread's pool keeps the fiber where it is (call_on_stack.cpp).
//
// It has entry points of its own, so that nobody else pays for the question: resuming it costs a comparison more, and a
// yield is a wait like any other, since no fiber may go straight to one that another thread might take.
#pragma once
#include <hocket/fiber/detail/control_block.hpp>

#include "fiber/entry.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// At its first run, where it has a stack; and at its end, before it gives that back.
inline void begin_migrating(control_block& block) noexcept {
  block.head = migratable_entry_points;
  block.thread().remove_fiber();
}
inline void end_migrating(control_block& block) noexcept { block.thread().add_fiber(); }

// A parked one, by who is about to resume it: it belongs to this thread from now on. False: there is no memory.
[[nodiscard]] bool move_to_this_thread(control_block& block) noexcept;

}}}  // namespace hocket::detail
