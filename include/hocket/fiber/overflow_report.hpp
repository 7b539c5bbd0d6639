// Reports the overflow of a coroutine's stack on standard error.
//
// A guard page stops the overflow with SIGSEGV. Before the program dies, one message on standard error names the
// coroutine, its stack size, the place of its spawn, and a remedy:
//
//   hocket: the stack of a coroutine overflowed [coroutine parse]
//     stack_size 65536; 68944 bytes in use at the fault; high-water mark 68936; spawned at server.cpp:31
//     remedy: give it a stack_size of 131072 bytes or more, or make its one deep call by call_on_big_stack; a recursion
//     that does not end overflows any stack. Compile with -fstack-clash-protection: a frame larger than a page may miss
//     the guard page
//
// Guarantees.
// - The message is about the stack that the faulting thread runs on: a coroutine's, or its innermost call_on_stack's.
//   On the thread's own stack, where tasks run, the message names the thread.
// - A stray pointer or index that hits the guard page of a stack with free space gets a message of its own. The
//   high-water mark, the deepest write to that stack so far (stack/seam/inspection.hpp), then shows the free space.
//   If the pool does not measure, the mark is an upper bound, since earlier coroutines have left traces on that stack.
// - After the message, and after any other fault at once, the previously installed handler runs as if it were the only
//   handler (a sanitizer's, a virtual machine's, a crash reporter's). Without a previous handler the process dies by
//   the default action, with a core file that shows the place.
// - The message takes no lock and allocates nothing. It bypasses set_fatal_handler, because that handler need not be
//   signal-safe.
//
// Installation. The first coroutine or fiber of the process installs a handler of SIGSEGV and SIGBUS. Each thread that
// makes a coroutine or fiber gets an alternate signal stack until it ends, if it has none. A handler that the program
// installs later replaces this handler: chain to the handler that sigaction returned, to keep the report.
//
// Limits.
// - Only an access to the guard page, or an overflow across it, is found. A frame larger than a page that jumps over
//   the guard page and writes elsewhere is found at once only in code compiled with -fstack-clash-protection.
// - Stacks without guard pages (guard::canary) are checked at each switch instead (stack/stack_pool.hpp).
// - With HOCKET_BACKEND=thread, where fibers are threads of the operating system, nothing is installed or reported:
//   their frames lie on guarded stacks of the system, and any debugger shows them.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Switches the report on or off. It is on by default. Any thread.
// - Off before the first coroutine of the process: nothing is installed.
// - Off later: the handlers stay installed, write nothing, and pass each fault on.
// - On again: the handlers report again. Missing handlers are installed by the next thread that makes its first
//   coroutine.
void set_overflow_report(bool on) noexcept;

}}  // namespace hocket
