// Starts a program in a child process: clone(2) on a stack of its own, with the memory of this process.
//
// # The child until its program begins
//
// The memory is shared (CLONE_VM), and the calling thread is suspended until exec(2) or the end of the child
// (CLONE_VFORK). So a start copies no page tables, however many stacks this process has, and the child reports an error
// through memory. Fds, directory, umask, limits and signal actions are the child's own. Hazards:
//   - A function of the C library takes a lock that another thread holds, or acts on all threads, as setuid(3) does.
//     Prevented: the child makes system calls alone. They change errno of the suspended thread, which is restored.
//   - A signal handler runs in the child, in the memory of the parent. Prevented: all signals are blocked, also the
//     internal signals of the C library, until the child has no handlers.
//   - An instrumented function reports to a sanitizer as the suspended thread. Prevented: the child's functions have no
//     instrumentation.
//   - A replacement of vfork(2), as in ext/hook, copies the process. Prevented: it is not called.
//   - The wrapper of clone(2) of a sanitizer takes the child for a fork. Prevented: __clone() of the C library.
//
// The C library's clone() needs no assembly of ours: it calls a function on the new stack.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/io/process_options.hpp>
#include <hocket/runtime/seam/signal_table.hpp>
#include <sys/types.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The fd `source` of this process becomes `target` in the child. The child changes `source`.
struct fd_move {
  int source;
  int target;
};

// The steps of the child, in this order. All data is in the form of the system calls, and lives until start_child()
// returns.
struct child_plan {
  signal_bits ignored = 0;  // signals to ignore; SIGPIPE is ignored only if it is among them
  bool new_session = false, new_group = false;
  fd_move* moves = nullptr;
  std::size_t move_count = 0;
  int umask = -1;  // -1 here and below: unchanged
  const resource_limit* limits = nullptr;
  std::size_t limit_count = 0;
  const gid_t* groups = nullptr;
  long group_count = -1;
  std::int64_t group = -1, user = -1;
  const char* directory = nullptr;  // null: unchanged
  // execve(2), with the first program that exists. The lists end with null.
  const char* const* programs = nullptr;
  char* const* arguments = nullptr;
  char* const* variables = nullptr;
};

// Returns an error number; 0: the program has begun, or a signal has ended the child before. `id` becomes the process
// id of the child, before the child runs; it stays -1 if there is none. After an error the child is reaped. Without
// shared memory (qemu's user mode) an error is not known: then the child exits with 127. Preserves errno.
int start_child(const child_plan& plan, atomic<pid_t>& id) noexcept;

}}}  // namespace hocket::detail
