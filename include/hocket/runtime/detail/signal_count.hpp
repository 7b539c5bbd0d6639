// Signals that the process gets: one table of handlers for all of hocket.
//
// The first user of a signal installs hocket's handler, and the last one that leaves installs what was there before.
// Until then the former handler is called, too. A dump of a runtime counts signals (signal_count) and stays a user for
// ever. The layer io listens, for signal sets.
#pragma once
#include <hocket/base/detail/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Any thread. Throws std::system_error: the signal cannot be handled.
void use_signal(int signal);
// Afterwards no handler that began before is in the table or at the listener.
void leave_signal(int signal) noexcept;

// Called in the handler, on any thread: only what is allowed there. One for the process.
using signal_listener = void (*)(int signal) noexcept;
void listen_to_signals(signal_listener tell) noexcept;

// How often the process got a signal, for threads that wait for the next one.
class signal_count {
 public:
  // Has `signal` counted from now on; the handler that was there is called, too. Throws std::system_error if it cannot
  // be handled. Any thread. The count is never destroyed.
  static signal_count& of(int signal);

  // The handler: counts one, and wakes those who wait. An atomic and a futex: allowed in a handler.
  void one_came() noexcept { change(1); }
  // Wakes those who wait; nothing is counted.
  void wake() noexcept { change(not_counted); }

  // What whoever changed it did before is visible.
  // ORDER: acquire, pairs with the fetch_add in change().
  std::uint32_t present() const noexcept { return word_.load(std::memory_order_acquire); }
  // Until it changes. Gives what it is then.
  std::uint32_t wait(std::uint32_t seen) const noexcept {
    futex_wait(word_, seen);
    return present();
  }
  // Whether signals came between the two.
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
