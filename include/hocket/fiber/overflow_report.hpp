// What a program says when the stack of a coroutine overflows.
//
// A guard page stops the overflow with SIGSEGV. Before the program dies of it, one message on standard error tells
// whose stack it was, how large, where the coroutine was spawned, and what to do:
//
//   hocket: the stack of a coroutine overflowed [coroutine parse]
//     stack_size 65536; 68944 bytes in use at the fault; high-water mark 68936; spawned at server.cpp:31
//     remedy: give it a stack_size of 131072 bytes or more, or make its one deep call by call_on_big_stack; a recursion that
//     does not end overflows any stack. Compile with -fstack-clash-protection: a frame larger than a page may miss the
//     guard page
//
// The message is about the stack that the faulting thread runs on: a coroutine's, or that of its innermost
// call_on_stack. If that is the thread's own, where tasks run, the message names the thread. A pointer or index
// that hit the guard page while the stack had room is told apart: there the high-water mark, how deep that stack
// was ever written (stack/detail/high_water.hpp), tells how much room. Of a pool that does not measure it is an
// upper bound, since earlier coroutines on that stack have left traces. Then, and after any other fault at once,
// the handler that was there before is called as if there were no other in between (a sanitizer's, a virtual
// machine's, a crash reporter's); without one the process dies by the default action, with a core file that shows
// the place. The message takes no lock and allocates nothing, and does not go through set_fatal_handler: its handler need
// not be fit for a signal.
//
// Installed when the process makes its first coroutine or fiber: a handler of SIGSEGV and SIGBUS; and for each thread
// that makes one, until it ends, an alternate signal stack if it has none. A handler that the program installs later
// takes the place of ours: chain to what sigaction gave you, if you want the report.
//
// It finds what touches the guard page, or has run over it. A frame larger than a page that jumps over the guard page
// and writes elsewhere is found at once only if the code was compiled with -fstack-clash-protection. Stacks without
// guard pages (guard::canary) are checked at each switch instead (stack/stack_pool.hpp).
//
// Where fibers are threads of the operating system (HOCKET_BACKEND=thread) there is no report, and nothing is
// installed: their frames lie on stacks of the system, with guards of the system, and any debugger shows them.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// On unless it is switched off. Before the first coroutine of the process: nothing is installed. Later: what is
// installed stays, says nothing, and gives each fault on. Switched on again, it reports again; what was not installed
// is installed by the next thread that makes its first coroutine. Any thread may call it.
void set_overflow_report(bool on) noexcept;

}}  // namespace hocket
