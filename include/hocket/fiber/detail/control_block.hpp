// The hot state of a fiber: one cache line in a dense array (stack_pool's cell), apart from its stack.
//
//   +0   resume      entry stub; null when finished (that is what coroutine_handle::done() reads)
//   +8   destroy     entry stub
//   +16  header      kind, flags, continuation, context (core/thread/seam/frame.hpp)
//   +56  record      the parked stack (context/seam/switch.hpp), or its image while that is packed; null while it
//                    runs, has resumed another, or has finished
//
// A raw fiber is in no queue. While it runs, the link of its header holds the stack pointer of its resumer: the
// resumer's frames are parked a little below (fiber/enumeration.hpp).
//
// The resuming side moves its exception state, if it is not empty: after the switch that side finds the fiber's state
// in the thread's globals.
//
// A switch touches this line, the line at the record, the thread's fiber_thread and its exception globals. State
// for the start and the end of a fiber lies in its fiber_record, at the top of its stack.
//
// States of a raw fiber:
//
//   state        record    resume    flags       thread.running
//   unstarted    set       set       -           another
//   suspended    set       set       started     another
//   running      null      set       started     this
//   resuming     null      set       started     another (resumed by it, directly or indirectly)
//   finished     null      null      finished    another
//
// States of a spawned fiber, which has fiber_flag::scheduled; header.ctx leads to its `scheduled` (context::strand()):
//
//   state        record    its `scheduled`
//   running      null      -
//   ready        set       waits_ is null, or that wait is decided; foreign_ is 0
//   waiting      set       waits_ is a wait that is not decided, or foreign_ counts a foreign one
//
// So the cells of a slab describe all fibers, without further writes (tools/gdb/hocket_gdb/cells.py). A cell with a
// null `resume` is free: it was never used, or its fiber has finished or was given up.
#pragma once
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/fiber/detail/fiber_flag.hpp>
#include <hocket/fiber/detail/fiber_thread.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct control_block {
  frame_head head;
  coroutine_header header;
  void* record;

  fiber_thread& thread() const noexcept { return *static_cast<fiber_thread*>(header.continuation.home); }
  bool finished() const noexcept { return head.resume == nullptr; }
};

// The block of an empty coroutine: it has no record, so one test covers every state that cannot be resumed.
extern control_block vacant_block;
static_assert(sizeof(control_block) == 64 && offsetof(control_block, header) == 2 * sizeof(void*),
              "a control block is one cache line and begins like a compiler's frame");

}}}  // namespace hocket::detail
