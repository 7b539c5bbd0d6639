// Options, reports and counters of a runtime (runtime.hpp).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/core/spawn_target.hpp>
#include <source_location>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

// A report of a coroutine that has run on its worker without suspension for at least `held`.
struct stall {
  std::size_t worker;
  const char* coroutine;  // its name: for a child of a when_all or fork_join, the name of the whole; "a coroutine" if
                          // the system does not let a process read its own memory (process_vm_readv). A copy of at
                          // most 63 bytes, valid during the handler
  duration held;
  std::source_location spawned;
  // With runtime_options::stall_signal, where the worker was; valid during the handler.
  std::span<const void* const> frames;    // the interrupted instruction, then return addresses, innermost first
  std::span<const void* const> awaiters;  // the functions of the tasks that wait for the one that runs, innermost first
};
static_assert(detail::owns_nothing<stall>);
// A function that is called once for each stall, on a thread of its own. Must not throw.
using stall_handler = void (*)(const stall& report) noexcept;

// Writes the stall as a line to standard error, and a line for each of its frames and awaiters.
void print_stall(const stall& report) noexcept;

// A function that a worker calls on its own thread, with the worker's number. An exception is fatal.
using worker_hook = void (*)(std::size_t worker);

// Options for runtime.
struct runtime_options {
  std::size_t workers = 0;  // 0: one for each CPU of the process's affinity mask, or fewer by its CPU quota (cgroup)
  literal_name name = "runtime";             // of threads and unnamed coroutines
  const clock_source* clock = nullptr;       // null: the machine's monotonic clock; outlives the runtime
  unhandled_handler on_unhandled = nullptr;  // null: abort, with the coroutine's name

  // If a coroutine runs on its worker for so long without suspension, on_stall is called, once for each such time. A
  // thread inspects the workers four times in `stall_limit`, at no cost to them, and calls the handler. It does not
  // inspect workers during the call. The handler may dump the runtime, and must not end it. The thread rests while all
  // workers sleep.
  duration stall_limit = duration::max();  // never; at least 1 ms
  stall_handler on_stall = nullptr;        // null: print_stall

  // With this signal (SIGURG, for instance) the worker of a stall is interrupted, so that the report has its stack. The
  // handler of hocket has SA_RESTART and SA_ONSTACK, calls the previous handler, and stays installed after the
  // runtime's end. As after any signal, nanosleep(2) and poll(2) of the interrupted code fail with EINTR. Callers are
  // known with glibc 2.35 and libgcc 12, or later; else the interrupted instruction alone. An address is right or
  // absent. No stack is reported if the worker's code blocks the signal, or where fibers are threads. 0: no signal is
  // sent.
  int stall_signal = 0;

  // On this signal (SIGQUIT, for instance) a thread dumps the runtime to standard error. The previous handler of the
  // signal is called, too. The new handler stays installed after the runtime's end. 0: none.
  int dump_on_signal = 0;

  worker_hook on_start = nullptr;  // before the worker's first coroutine: sets its affinity, its priority
  worker_hook on_stop = nullptr;   // after the worker's last coroutine
};
static_assert(detail::owns_nothing<runtime_options>);

struct shutdown_list;

// Options for shutdown(): the time limit of each step.
struct shutdown_options {
  duration drain{};                           // coroutines may end by themselves
  duration cancel = std::chrono::seconds(1);  // then they are cancelled, and may clean up
  duration kill = std::chrono::seconds(1);    // then they are killed, and unwind
  int report = 2;                             // the descriptor for dumps between the steps; -1: none
  shutdown_list* stopped = nullptr;           // gets the names of the coroutines that did not end by themselves
};
static_assert(detail::owns_nothing<shutdown_options>);

// The numbers of coroutines that ended in each step of a shutdown, without daemons.
struct shutdown_report {
  // Of daemons (core/spawn/seam/daemon_group.hpp), without the daemons that ended while the others drained.
  struct daemon_ends {
    std::size_t cancelled = 0, killed = 0, remaining = 0;
  };

  std::size_t drained = 0, cancelled = 0, killed = 0;
  std::size_t remaining = 0;  // not ended: they do not suspend, or cannot be killed. The destructor would wait for them
  daemon_ends daemons{};
};

// Counters of a worker, or the sum over all workers, since their start, and the state now. stack/stack_depot.hpp has
// the use of stacks.
struct runtime_counts {
  std::size_t turns = 0;         // turns
  std::size_t resumed = 0;       // coroutines resumed from its queues
  std::size_t injected = 0;      // coroutines taken from the runtime's injection queue
  std::size_t stolen = 0;        // coroutines and forks stolen from other workers
  std::size_t sleeps = 0;        // sleeps
  std::size_t wakeups = 0;       // sleeps that another thread ended, by a system call
  std::size_t ready = 0;         // ready coroutines that other workers may steal, about
  std::size_t pinned_ready = 0;  // pinned coroutines (fibers, for instance) that were ready when the present turn began
  std::size_t assists = 0;       // times that the watch served its driver and its timers, because it seemed stuck
  std::size_t frames = 0;        // bytes of free frames of tasks that it keeps, as of its last housekeeping: when some
                                 // were due for release, or up to 1,024 turns ago
  std::size_t timers = 0;        // timers fired
  duration max_timer_lag{};      // the greatest delay of a timer
};

}}  // namespace hocket
