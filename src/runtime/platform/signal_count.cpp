#include <hocket/runtime/detail/signal_count.hpp>

#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/mutex.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

struct handled {
  unsigned users = 0;                // guarded by the mutex
  struct sigaction before{};         // set while no handler runs
  atomic<std::uint32_t> running{0};  // handlers, without the former handlers that they call
  signal_count count;
};
std::array<handled, 65> signals;
constinit thread_mutex mutex;
constinit atomic<signal_listener> current_listener{nullptr};
constinit atomic<child_listener> current_child_listener{nullptr};
constinit atomic<interrupt_listener> current_interrupt_listener{nullptr};

// With or without SA_SIGINFO: both kinds of handlers are stored at the same address.
bool has_handler(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// Above the number of an interrupt.
constexpr int interrupt_mark = 0x686F63 << 8;

bool take_interrupt(const siginfo_t& info, const void* context) noexcept {
  if (info.si_code != SI_QUEUE || info.si_pid != ::getpid()) return false;
  if ((info.si_value.sival_int & ~0xFF) != interrupt_mark) return false;
  // ORDER: acquire, pairs with the store in listen_to_interrupts().
  if (const interrupt_listener listener = current_interrupt_listener.load(std::memory_order_acquire))
    listener(static_cast<std::uint32_t>(info.si_value.sival_int & 0xFF), context);
  return true;
}

void notify(handled& entry, int signal) noexcept {
  entry.count.add_one();
  // ORDER: acquire, pairs with the store in listen_to_signals().
  if (const signal_listener listener = current_listener.load(std::memory_order_acquire)) listener(signal);
}

// The former handler is called last, and not counted: it may never return.
void on_signal(int signal, siginfo_t* info, void* context) noexcept {
  if (!has_called_fork_handlers()) return;
  const int error = errno;
  const std::uint32_t forks = forks_so_far();
  handled& entry = signals[static_cast<std::size_t>(signal)];
  // ORDER: seq_cst, forbids that a listener reads before it whether it is active, against leave_signal().
  entry.running.fetch_add(1, std::memory_order_seq_cst);
  if (!take_interrupt(*info, context)) notify(entry, signal);
  const struct sigaction before = entry.before;
  // If a handler that interrupted this one has forked, the count is zero already in the child.
  // ORDER: release, pairs with the load in leave_signal(): the handler is done with the table.
  if (forks == forks_so_far()) entry.running.fetch_sub(1, std::memory_order_release);
  if (!has_handler(before)) {
  } else if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else {
    before.sa_handler(signal);
  }
  errno = error;
}

// --- forks

sigset_t mask_before_fork;  // guarded by the mutex

void before_fork() noexcept {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  mutex.lock();
  mask_before_fork = before;
}

void after_fork() noexcept {
  const sigset_t before = mask_before_fork;
  mutex.unlock();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void in_child() noexcept {
  // ORDER: relaxed, pairs with nothing: there is one thread in a child.
  for (handled& entry : signals) entry.running.store(0, std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  if (const child_listener listener = current_child_listener.load(std::memory_order_relaxed)) listener();
  after_fork();
}

// Calls forks_so_far() first: its fork handler runs before this one in the child, and the signal handler calls it.
void watch_forks() {
  static const int error = (static_cast<void>(forks_so_far()), ::pthread_atfork(before_fork, after_fork, in_child));
  if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_atfork");
}

// After a handler the faulting instruction is repeated.
bool is_of_a_fault(int signal) noexcept {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

handled& entry_of(int signal) {
  if (signal <= 0 || static_cast<std::size_t>(signal) >= signals.size())
    throw std::system_error(EINVAL, std::generic_category(), "a signal that does not exist was asked for");
  if (is_of_a_fault(signal))
    throw std::system_error(EINVAL, std::generic_category(), "the signal of a fault was asked for");
  return signals[static_cast<std::size_t>(signal)];
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

// The signals in use that `choose` accepts.
template <class Choice>
signal_bits used_signals(Choice choose) noexcept {
  const locked guard(mutex);
  signal_bits found = 0;
  for (std::size_t i = 1; i < signals.size(); ++i) {
    if (signals[i].users != 0 && choose(signals[i])) found |= bit_of(static_cast<int>(i));
  }
  return found;
}

void change_mask(int operation, signal_bits changed) noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal = 1; changed != 0; ++signal, changed >>= 1) {
    if (changed & 1) ::sigaddset(&set, signal);
  }
  ::pthread_sigmask(operation, &set, nullptr);
}

}  // namespace

void listen_to_signals(signal_listener listener, child_listener in_child) noexcept {
  // ORDER: relaxed, pairs with nothing: the thread that forks has used a signal.
  current_child_listener.store(in_child, std::memory_order_relaxed);
  // ORDER: release, pairs with the load in on_signal().
  current_listener.store(listener, std::memory_order_release);
}

void listen_to_interrupts(interrupt_listener listener) noexcept {
  // ORDER: release, pairs with the load in take_interrupt().
  current_interrupt_listener.store(listener, std::memory_order_release);
}

bool interrupt(pthread_t thread, int signal, std::uint32_t number) noexcept {
  sigval value{};
  value.sival_int = interrupt_mark | static_cast<int>(number);
  return ::pthread_sigqueue(thread, signal, value) == 0;
}

void use_signal(int signal) {
  handled& entry = entry_of(signal);
  watch_forks();
  const locked guard(mutex);
  if (entry.users == 0) handle(signal, entry.before);
  ++entry.users;
}

void leave_signal(int signal) noexcept {
  const locked guard(mutex);
  handled& entry = signals[static_cast<std::size_t>(signal)];
  if (--entry.users == 0) ::sigaction(signal, &entry.before, nullptr);
  // ORDER: seq_cst, forbids its reordering before the caller's store that it no longer needs the signal; and acquire,
  // pairs with the fetch_sub in on_signal().
  while (entry.running.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

signal_bits signals_ignored_before() noexcept {
  return used_signals([](const handled& entry) { return entry.before.sa_handler == SIG_IGN; });
}

void unblock_signals(signal_bits unblocked) noexcept { change_mask(SIG_UNBLOCK, unblocked); }

void set_mask_of_library_thread() noexcept {
  unblock_signals(used_signals([](const handled&) { return true; }));
  change_mask(SIG_BLOCK, bit_of(SIGXFSZ));
}

signal_count& signal_count::for_signal(int signal) {
  use_signal(signal);
  return signals[static_cast<std::size_t>(signal)].count;
}

}}}  // namespace hocket::detail
