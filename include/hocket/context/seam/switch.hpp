// The machine switch: the porting contract.
//
// A back end defines, in namespace hocket::detail::machine, the names of this page; tests/unit/context is the
// conformance test. platform/machine.hpp selects the back end. Every back end is used through this page alone: the
// assembly for an architecture, or one of the fallbacks `ucontext` and `thread`, which run anywhere, slowly
// (HOCKET_BACKEND).
//
// # The record
//
// A *parked* stack is described by one pointer, its record, which lies on the parked stack itself:
//
//       higher addresses            the frames of the code that parked
//       record + 24   ------------> its stack pointer when it runs again
//       record + 8                  registers that are saved by hand, the frame pointer first
//       record + 0                  the address at which it resumes
//
// Nothing else is saved outside the stack: a collector that scans [record, base) finds every root. All other data that
// a back end saves lies above the record. Each back end has its own layout (the drawing is x86-64's), which is the same
// for every compiler, because code of two compilers may switch to each other. tools/gdb knows it.
//
// # Functions
//
//   struct arrival { void* from; void* transfer; }
//       The result of a switch for the resumed code: the record of the code that switched to it, and a word from it.
//   void* prepare(void* top, void (*entry)(void* argument, void* from, void* transfer), void* argument, size_t size)
//       Writes the record of a fresh stack below `top` (16-byte aligned) and returns it; `size` bytes below `top` are
//       the stack's. The first switch to it calls entry(argument, arrival...) with the alignment of the platform's call
//       convention, an empty frame chain, and unwind information that ends there. `entry` never returns (it calls
//       leave()) and lets no exception pass. A stack that was prepared and never switched to may be forgotten.
//   arrival switch_to(void* to, void* transfer)
//       Parks the caller and resumes the record `to`. Returns when other code switches to the caller's record, which
//       that code received as `from`. Preserves what a call preserves, except for the rounding mode (below). A compiler
//       barrier for memory.
//       In code that is not optimised a register that a call preserves keeps `from`, too, until the caller returns: a
//       collector finds it there before it is stored (fiber/enumeration.hpp).
//   arrival switch_to_in_caller(void* to, void* transfer)
//       The same for code in a function that contains a genuine call, so that the compiler keeps nothing in a red zone:
//       one cache line of the parked stack less. Never call it from a leaf.
//   void leave(void* to, void* transfer)          [[noreturn]]
//       Resumes `to` and forgets the caller's stack, which may be reused at once. `from` is null there.
//   void store_stack_pointer(T*& where)
//       Stores the present end of the caller's frame. If the caller then switches, the record of that switch lies at
//       most deepest_record below it. One store; nothing in the fallbacks, whose stacks are not enumerated.
//   const void* thread_id()
//       A pointer that differs between live threads, read anew at each call. A fiber is on the thread that resumed it.
//
// # Capabilities
//
// Constants for the differences of back ends; code and tests use these, never a back end's name:
//
//   fibers_are_threads     A fiber is a thread of the operating system. Its frames lie on that thread's own stack, not
//                          below `top`; a thread_local variable, the exceptions that are being handled and the system's
//                          limits are per fiber; a stack that was switched to must reach its leave(), or its thread
//                          leaks; and after fork() only the fiber that called it exists.
//   keeps_rounding_mode    The rounding mode belongs to the stack. Otherwise the control words of floating point (mxcsr
//                          and x87's, fpcr, fcsr) belong to the thread, and a switch does not change them.
//   kept_below_record      Bytes below a record that belong to the parked frames, too: code that moves a stack must
//   move
//                          them, too. 0 except for ucontext: its record lies above the frame of a library's function.
//   deepest_record         See store_stack_pointer(): the greatest distance of a record below it.
//   room_to_unwind         About the stack that an exception takes, in bytes: the unwinder keeps copies of all
//   registers
//                          that the architecture's unwind information knows. Measured on x86-64; elsewhere a bound with
//                          which the tests kill fibers on dense stacks of the default size.
//
// # Notes
//
// A thread runs on one stack at a time, and a record is switched to once. The switch in assembly is signal safe: at
// each of its instructions either the old or the new stack is valid.
//
// The record travels in a register, and the switch does not store it, because the side that switches back needs the
// other side's stack pointer first of all. Loaded from a control block it would end a chain of six dependent loads per
// round trip (docs/decisions/001-switch.md). The receiver stores it where its owner needs it.
#pragma once
#include <hocket/context/detail/exception_globals.hpp>
#include <hocket/context/detail/platform/annotation.hpp>
#include <hocket/context/detail/platform/machine.hpp>
