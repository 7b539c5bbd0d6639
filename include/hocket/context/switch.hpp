// The machine switch: the porting contract.
//
// A back end gives, in namespace hocket::machine, what this page names; tests/unit/context is the conformance test.
// The dispatch to a back end is platform/machine.hpp.
//
// A *parked* stack is described by one pointer, its record, which lies on the parked stack itself:
//
//       higher addresses            the frames of the code that parked
//       record + 16   ------------> its stack pointer when it runs again
//       record + 8                  its frame pointer
//       record + 0                  the address at which it goes on
//
// Nothing else is saved outside the stack: a collector that scans [record, base) sees every root, and whatever else a
// back end saves lies above the record. The layout is per architecture; the contract is:
//
//   struct arrival { void* from; void* transfer; }
//       What the code that goes on is told: the record of the code that switched to it, and a word from it.
//   void* prepare(void* top, void (*entry)(void* argument, void* from, void* transfer), void* argument)
//       Writes the record of a fresh stack below `top` (16-byte aligned) and returns it. The first switch to it calls
//       entry(argument, arrival...) with the alignment of the platform's call convention, an empty frame chain, and
//       unwind information that ends there. `entry` never returns (leave() is the way out) and lets no exception pass.
//   arrival switch_to(void* to, void* transfer)
//       Parks the caller and goes on at the record `to`. Returns when somebody switches to the caller's record, which
//       the other side received as `from`. Preserves what a call preserves, but not mxcsr and the x87 control word.
//       A compiler barrier for memory.
//   arrival switch_to_in_caller(void* to, void* transfer)
//       The same for code whose enclosing function contains a genuine call, so that the compiler keeps nothing in a
//       red zone: one cache line of the parked stack less. Never call it from a leaf.
//   void leave(void* to, void* transfer)          [[noreturn]]
//       Goes on at `to` and forgets the caller's stack, which may be reused at once. `from` is null there.
//   const void* thread_id()
//       A pointer that differs between live threads, read anew at each call.
//
// A thread runs on one stack at a time, and a record is switched to once. The switch is signal safe: at each of its
// instructions either the old or the new stack is whole.
//
// Why the record travels in a register instead of being stored by the switch: the side that goes back needs the other's
// stack pointer first of all. Loaded from a control block it ends a chain of six dependent loads per round trip; handed
// over, it is there (docs/decisions/001-switch.md). The receiver stores it where its owner looks for it.
#pragma once
#include <hocket/context/platform/machine.hpp>
