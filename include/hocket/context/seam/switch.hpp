// The machine switch: the porting contract.
//
// A back end gives, in namespace hocket::detail::machine, what this page names; tests/unit/context is the conformance
// test. The dispatch to a back end is platform/machine.hpp. Every back end is used through this page alone: its
// assembly for an architecture, or one of the fallbacks `ucontext` and `thread`, which run anywhere, slowly
// (HOCKET_BACKEND).
//
// A *parked* stack is described by one pointer, its record, which lies on the parked stack itself:
//
//       higher addresses            the frames of the code that parked
//       record + 24   ------------> its stack pointer when it runs again
//       record + 8                  registers that are saved by hand, the frame pointer first
//       record + 0                  the address at which it goes on
//
// Nothing else is saved outside the stack: a collector that scans [record, base) sees every root, and whatever else a
// back end saves lies above the record. The layout is per back end (the drawing is x86-64's) and the same for every
// compiler, since the code of two may switch to each other. tools/gdb knows it. The contract is:
//
//   struct arrival { void* from; void* transfer; }
//       What the code that goes on is told: the record of the code that switched to it, and a word from it.
//   void* prepare(void* top, void (*entry)(void* argument, void* from, void* transfer), void* argument, size_t size)
//       Writes the record of a fresh stack below `top` (16-byte aligned) and returns it; `size` bytes below `top` are
//       the stack's. The first switch to it calls entry(argument, arrival...) with the alignment of the platform's call
//       convention, an empty frame chain, and unwind information that ends there. `entry` never returns (leave() is the
//       way out) and lets no exception pass. A stack that was prepared and never switched to may be forgotten.
//   arrival switch_to(void* to, void* transfer)
//       Parks the caller and goes on at the record `to`. Returns when somebody switches to the caller's record, which
//       the other side received as `from`. Preserves what a call preserves, except for the rounding mode (below). A
//       compiler barrier for memory.
//       In code that is not optimised a register that a call preserves keeps `from`, too, until the caller returns: a
//       collector finds it there before it is stored (fiber/enumeration.hpp).
//   arrival switch_to_in_caller(void* to, void* transfer)
//       The same for code whose enclosing function contains a genuine call, so that the compiler keeps nothing in a
//       red zone: one cache line of the parked stack less. Never call it from a leaf.
//   void leave(void* to, void* transfer)          [[noreturn]]
//       Goes on at `to` and forgets the caller's stack, which may be reused at once. `from` is null there.
//   void note_stack_pointer(T*& where)
//       Stores where the caller's frame ends now. The record of a switch that the caller then makes lies at most
//       deepest_record below it. One store; nothing in the fallbacks, whose stacks nobody enumerates.
//   const void* thread_id()
//       A pointer that differs between live threads, read anew at each call. A fiber is on the thread that resumed it.
//
// and capabilities, constants by which code and tests are told what differs:
//
//   fibers_are_threads     A fiber is a thread of the operating system. Its frames lie on that thread's own stack, not
//                          below `top`; a thread_local variable, the exceptions that are being handled and the system's
//                          limits are per fiber; a stack that was switched to must come to its leave(), or its thread
//                          is left over; and after fork() only the fiber that called it is there.
//   keeps_rounding_mode    The rounding mode goes with the stack. Otherwise the control words of floating point (mxcsr
//                          and x87's, fpcr, fcsr) are the thread's, and stay as they are over a switch.
//   kept_below_record      Bytes below a record that belong to the parked frames, too: whoever moves a stack moves them
//                          along. 0 but for ucontext, whose record lies above the frame of a library's function.
//   deepest_record         See note_stack_pointer(): how far below it a record can be.
//   room_to_unwind         About what an exception takes of a stack, in bytes: the unwinder keeps copies of all
//                          registers that the architecture's unwind information knows. Measured on x86-64; elsewhere
//                          a bound with which fibers on dense stacks of the default size are killed in the tests.
//
// A thread runs on one stack at a time, and a record is switched to once. The switch in assembly is signal safe: at
// each of its instructions either the old or the new stack is whole.
//
// Why the record travels in a register instead of being stored by the switch: the side that goes back needs the other's
// stack pointer first of all. Loaded from a control block it ends a chain of six dependent loads per round trip; handed
// over, it is there (docs/decisions/001-switch.md). The receiver stores it where its owner looks for it.
#pragma once
#include <hocket/context/detail/exception_globals.hpp>
#include <hocket/context/detail/platform/annotation.hpp>
#include <hocket/context/detail/platform/machine.hpp>
