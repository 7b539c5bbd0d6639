// Signals that the process receives: one table of handlers for all of hocket.
//
// The first user of a signal installs hocket's handler, and the last user restores the former action. Until then the
// former handler is called, too. A dump of a runtime counts signals
// (signal_count.hpp) and remains a user for ever. The
// layer io listens, for signal sets.
//
// # What a process inherits
//
// The signal mask belongs to a thread, and a program begins with the mask of its launcher. If the launcher blocks a
// signal, then no thread of the program receives it. So a user unblocks its signals on its thread, and each thread of
// the library unblocks the signals in use when it begins. A thread that began before keeps its mask: one thread that
// receives the signal is enough.
//
// exec(2) restores the default action of a signal with a handler, also if the signal was ignored before the handler was
// installed (nohup(1) ignores SIGHUP). signals_ignored_before() names these, so that a start of a child can ignore them
// again.
//
// # Forks
//
// A forked child has the handlers and the table. A signal that is sent to it is its own, from the fork on.
//   - If another thread runs a handler during the fork, then the child's copy of `running` never falls to zero, and
//     leave_signal() waits for ever. Prevented by the fork handler.
//   - If a signal arrives in the child before the objects of the listener are the child's own, then the parent is told.
//     Prevented: the thread that forks blocks all signals from the first fork handler to the last.
//   - In a child that called no fork handlers (forks.hpp) the table may be the parent's. There a handler does nothing.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Bit n - 1 is signal n. A number that is no signal has no bit.
using signal_bits = std::uint64_t;
constexpr signal_bits bit_of(int signal) noexcept {
  return signal >= 1 && signal <= 64 ? signal_bits{1} << (signal - 1) : 0;
}

// Any thread. Throws std::system_error: the signal cannot be handled. Refused are also the signals of faults (SIGSEGV,
// SIGBUS, SIGFPE, SIGILL): a handler that returns from a fault repeats it for ever.
void use_signal(int signal);
// Afterwards no handler that began before is in the table or at the listener.
void leave_signal(int signal) noexcept;

// The signals in use that were ignored before. Any thread.
signal_bits signals_ignored_before() noexcept;

// On the calling thread. Pending signals arrive at once.
void unblock_signals(signal_bits unblocked) noexcept;

// Called in the handler, on any thread: only what is allowed there. One for the process.
using signal_listener = void (*)(int signal) noexcept;
// Called in a forked child, while it has one thread and all signals are blocked.
using child_listener = void (*)() noexcept;
void listen_to_signals(signal_listener listener, child_listener in_child) noexcept;

}}}  // namespace hocket::detail
