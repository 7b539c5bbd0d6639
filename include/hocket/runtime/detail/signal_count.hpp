// Signals that the process receives: one table of handlers for all of hocket.
//
// The first user of a signal installs hocket's handler, and the last user restores the former action. Until then the
// former handler is called, too. A dump of a runtime counts signals (signal_count) and remains a user for ever. The
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
#include <hocket/base/seam/atomic.hpp>
#include <sys/types.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Bit n - 1 is signal n.
using signal_bits = std::uint64_t;
constexpr signal_bits bit_of(int signal) noexcept { return signal_bits{1} << (signal - 1); }

// Any thread. Throws std::system_error: the signal cannot be handled. Refused are also the signals of faults (SIGSEGV,
// SIGBUS, SIGFPE, SIGILL): a handler that returns from a fault repeats it for ever.
void use_signal(int signal);
// Afterwards no handler that began before is in the table or at the listener.
void leave_signal(int signal) noexcept;

// The signals in use that were ignored before. Any thread.
signal_bits signals_ignored_before() noexcept;

// On the calling thread. Pending signals arrive at once.
void unblock_signals(signal_bits unblocked) noexcept;

// By each thread of the library, when it begins: unblocks the signals in use. It blocks SIGXFSZ: then a write beyond
// RLIMIT_FSIZE gives an error, and does not end the process.
void set_mask_of_library_thread() noexcept;

// Called in the handler, on any thread: only what is allowed there. One for the process.
using signal_listener = void (*)(int signal) noexcept;
// Called in a forked child, while it has one thread and all signals are blocked.
using child_listener = void (*)() noexcept;
void listen_to_signals(signal_listener listener, child_listener in_child) noexcept;

// A signal of our own to one thread, with a number below 256: its handler calls the listener, on that thread, with the
// ucontext_t of the handler. Such a signal is not counted, and no signal_listener is called. The former handler is.
using interrupt_listener = void (*)(std::uint32_t number, const void* context) noexcept;
void listen_to_interrupts(interrupt_listener listener) noexcept;
// `signal` is in use. False: the system sends it not.
[[nodiscard]] bool interrupt(pthread_t thread, int signal, std::uint32_t number) noexcept;

// How often the process received a signal, for threads that wait for the next one.
class signal_count {
 public:
  // Has `signal` counted from now on; the handler that was there is called, too. Throws std::system_error if it cannot
  // be handled. Any thread. The count is never destroyed.
  static signal_count& of(int signal);

  // The handler: counts one, and wakes the threads that wait. An atomic and a futex: allowed in a handler.
  void add_one() noexcept { change(1); }
  // Wakes the threads that wait; nothing is counted.
  void wake() noexcept { change(not_counted); }

  // What the thread that changed it did before is visible.
  // ORDER: acquire, pairs with the fetch_add in change().
  std::uint32_t present() const noexcept { return word_.load(std::memory_order_acquire); }
  // Waits until the word is not `seen`, and returns it.
  std::uint32_t wait(std::uint32_t seen) const noexcept {
    futex_wait(word_, seen);
    return present();
  }
  // Whether signals arrived between the two.
  static bool counted(std::uint32_t from, std::uint32_t to) noexcept { return (from ^ to) % not_counted != 0; }

 private:
  static constexpr std::uint32_t not_counted = 1u << 16;  // signals are the bits below
  void change(std::uint32_t by) noexcept {
    // ORDER: release, pairs with the load in present().
    word_.fetch_add(by, std::memory_order_release);
    futex_wake_all(word_);
  }
  atomic<std::uint32_t> word_{0};
};

}}}  // namespace hocket::detail
