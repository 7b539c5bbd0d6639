// The hot state of a fiber: one cache line in a dense array (stack_pool's cell), apart from its stack.
//
//   +0   resume      entry stub; null when finished (that is what coroutine_handle::done() reads)
//   +8   destroy     entry stub
//   +16  header      kind, flags, continuation, context (core/thread/seam/frame.hpp)
//   +56  record      the parked stack (context/seam/switch.hpp), or its image while that is packed; null while it
//                    runs, has resumed another, or has finished
//
// A raw fiber is in no queue. While it runs, the link of its header has the stack pointer of its resumer: the resumer's
// frames are parked a little below (fiber/enumeration.hpp).
//
// Its exception state is moved by the side that resumes it, when it is not empty: at a landing that side finds in the
// thread's globals whatever the fiber left there.
//
// A switch touches this line, the line at the record, the thread's fiber_thread and its exception globals. What is
// needed only at the start and the end of a fiber lies in its fiber_record, at the top of its stack.
//
// States of a raw fiber, and what tells them apart:
//
//   state        record    resume    flags       thread.running
//   unstarted    set       set       -           another
//   suspended    set       set       started     another
//   running      null      set       started     this
//   resuming     null      set       started     another (one that it resumed, or further down)
//   finished     null      null      finished    another
//
// States of a spawned fiber, which has fiber_flag::scheduled; header.ctx leads to its `scheduled` (context::strand()):
//
//   state        record    what its `scheduled` says
//   running      null      -
//   ready        set       waits_ is null, or that wait is decided; foreign_ is 0
//   waiting      set       waits_ is a wait that is not decided, or foreign_ counts a foreign one
//
// So the cells of a slab tell of all fibers, and no word is written for it (tools/gdb/hocket_gdb/cells.py). A cell
// whose `resume` is null is free: it was never used, or its fiber has finished or was given up.
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

// What an empty coroutine refers to: it has no record, so that one test covers every state that cannot be resumed.
extern control_block vacant_block;
static_assert(sizeof(control_block) == 64 && offsetof(control_block, header) == 2 * sizeof(void*),
              "a control block is one cache line and begins like a compiler's frame");

}}}  // namespace hocket::detail
