#include <hocket/runtime/detail/signal_count.hpp>

#include <hocket/base/detail/mutex.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

struct handled {
  unsigned users = 0;                // guarded by the mutex
  struct sigaction before{};         // set while no handler runs
  atomic<std::uint32_t> running{0};  // handlers, but for what the former one does
  signal_count count;
};
std::array<handled, 65> signals;
constinit thread_mutex mutex;
constinit atomic<signal_listener> listener{nullptr};

// Whatever the flags say: the handler's address lies where that of a sigaction lies.
bool has_handler(const struct sigaction& of) noexcept { return of.sa_handler != SIG_DFL && of.sa_handler != SIG_IGN; }

// The former handler is called last, and not counted: it may never return.
void on_signal(int signal, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  handled& one = signals[static_cast<std::size_t>(signal)];
  // ORDER: seq_cst, forbids that a listener looks before it whether it is wanted, against leave_signal().
  one.running.fetch_add(1, std::memory_order_seq_cst);
  one.count.one_came();
  // ORDER: acquire, pairs with the store in listen_to_signals().
  if (const signal_listener tell = listener.load(std::memory_order_acquire)) tell(signal);
  const struct sigaction before = one.before;
  // ORDER: release, pairs with the load in leave_signal(): the handler is done with the table.
  one.running.fetch_sub(1, std::memory_order_release);
  if (!has_handler(before)) {
  } else if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else {
    before.sa_handler(signal);
  }
  errno = error;
}

// Under the mutex.
void handle(int signal, struct sigaction& before) {
  struct sigaction ours{};
  ours.sa_sigaction = &on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  if (::sigaction(signal, nullptr, &before) != 0 || ::sigaction(signal, &ours, nullptr) != 0)
    throw std::system_error(errno, std::generic_category(), "a signal that cannot be handled was asked for");
}

}  // namespace

void listen_to_signals(signal_listener tell) noexcept {
  // ORDER: release, pairs with the load in on_signal().
  listener.store(tell, std::memory_order_release);
}

void use_signal(int signal) {
  if (signal <= 0 || static_cast<std::size_t>(signal) >= signals.size())
    throw std::system_error(EINVAL, std::generic_category(), "a signal was asked for that does not exist");
  const locked guard(mutex);
  handled& one = signals[static_cast<std::size_t>(signal)];
  if (one.users == 0) handle(signal, one.before);
  ++one.users;
}

void leave_signal(int signal) noexcept {
  const locked guard(mutex);
  handled& one = signals[static_cast<std::size_t>(signal)];
  if (--one.users == 0) ::sigaction(signal, &one.before, nullptr);
  // ORDER: seq_cst, forbids that it comes before the caller has said what it does not want any more; and acquire, pairs
  // with the fetch_sub in on_signal().
  while (one.running.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

signal_count& signal_count::of(int signal) {
  use_signal(signal);
  return signals[static_cast<std::size_t>(signal)].count;
}

}}}  // namespace hocket::detail
