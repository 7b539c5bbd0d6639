// Signals for the threads of a runtime, in addition to the table of handlers (signal_table.hpp): the mask of a thread,
// interrupts of one thread, and the count of a signal.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/runtime/seam/signal_table.hpp>
#include <sys/types.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Called by each thread of the library at its begin: unblocks the signals in use. Blocks SIGXFSZ: then a write beyond
// RLIMIT_FSIZE returns an error, and does not end the process.
void set_mask_of_library_thread() noexcept;

// An interrupt: a signal to one thread, with a number below 256. The handler calls the listener on that thread, with
// the ucontext_t of the handler, and then the former handler. It does not count the signal, and calls no
// signal_listener.
using interrupt_listener = void (*)(std::uint32_t number, const void* context) noexcept;
void listen_to_interrupts(interrupt_listener listener) noexcept;
// `signal` is in use. False: the signal was not sent.
[[nodiscard]] bool interrupt(pthread_t thread, int signal, std::uint32_t number) noexcept;

// The number of receptions of a signal by the process, for threads that wait for the next one.
class signal_count {
 public:
  // Counts `signal` from now on; the former handler is called, too. Throws std::system_error if the signal cannot be
  // handled. Any thread. The count is never destroyed.
  static signal_count& for_signal(int signal);

  // The handler: counts one, and wakes the threads that wait. An atomic and a futex: allowed in a handler.
  void add_one() noexcept { change(1); }
  // Wakes the threads that wait; nothing is counted.
  void wake() noexcept { change(not_counted); }

  // Writes of the changing thread before the change are visible.
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
