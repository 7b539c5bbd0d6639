// Fibers that migrate: spawned as `migratable` on a runtime, they continue on any of its workers.
//
// A fiber's thread is in its control block, and its stack's pool in its record. A worker that resumes a migrating fiber
// first sets both to its own (move_to_this_thread()), and then resumes it like any other fiber. Between two runs it
// belongs to no thread:
//
//   running     its block names the thread on which it runs
//   parked      its block names the thread of its last run, which may no longer exist, and is not used
//
// # Hazards
//
// - If two threads wrote the block at once, it would be corrupted. Prevented: only the party that took the handle out
//   of a queue writes it, and the wake-up orders these parties.
// - If the previous worker touched the fiber after its request was published, it would race with the next one.
//   Prevented: it touches nothing (scheduled_fiber.hpp), and does not count the fiber any more. fiber_thread::live
//   counts the fibers that may keep the thread's state alive; migrating fibers are not among them, because their
//   runtime outlives them.
// - If a worker that has never run a fiber has no memory for its state, it cannot run the fiber. Then the fiber returns
//   to the queue.
// - If code kept its thread's state over a switch, it would use the state of another thread. Prevented: code between
//   two switches reads its thread again (core/thread/seam/current.hpp). The exception state moves along, in the record.
//   A call on a big stack of the thread's pool keeps the fiber on its thread (call_on_stack.cpp).
//
// Migrating fibers have their own entry points, so other fibers pay nothing: their resume costs one more comparison,
// and their yield is an ordinary wait, because another thread might take the next fiber.
#pragma once
#include <hocket/fiber/detail/control_block.hpp>

#include "fiber/entry.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// begin_migrating(): at the first run, after the fiber has a stack. end_migrating(): at its end, before it returns the
// stack.
inline void begin_migrating(control_block& block) noexcept {
  block.head = migratable_entry_points;
  block.thread().remove_fiber();
}
inline void end_migrating(control_block& block) noexcept { block.thread().add_fiber(); }

// Moves a parked fiber to the calling thread, which is about to resume it. False: there is no memory.
[[nodiscard]] bool move_to_this_thread(control_block& block) noexcept;

}}}  // namespace hocket::detail
