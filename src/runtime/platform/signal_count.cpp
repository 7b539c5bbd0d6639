#include "runtime/platform/signal_count.hpp"

#include <hocket/base/detail/mutex.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace hocket::inline HOCKET_ABI::detail {

namespace {

struct handled {
  bool yet = false;
  struct sigaction before{};  // set before the handler is there that reads it
  signal_count count;
};
std::array<handled, 65> signals;
constinit thread_mutex mutex;

// Whatever the flags say: the handler's address lies where that of a sigaction lies.
bool has_handler(const struct sigaction& of) noexcept { return of.sa_handler != SIG_DFL && of.sa_handler != SIG_IGN; }

void on_signal(int signal, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  handled& one = signals[static_cast<std::size_t>(signal)];
  one.count.one_came();
  if (!has_handler(one.before)) {
  } else if (one.before.sa_flags & SA_SIGINFO) {
    one.before.sa_sigaction(signal, info, context);
  } else {
    one.before.sa_handler(signal);
  }
  errno = error;
}

void handle(int signal, struct sigaction& before) {
  struct sigaction ours{};
  ours.sa_sigaction = &on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  if (::sigaction(signal, nullptr, &before) != 0 || ::sigaction(signal, &ours, nullptr) != 0)
    throw std::system_error(errno, std::generic_category(), "a signal that cannot be handled was asked for");
}

}  // namespace

signal_count& signal_count::of(int signal) {
  if (signal <= 0 || static_cast<std::size_t>(signal) >= signals.size())
    throw std::system_error(EINVAL, std::generic_category(), "a signal was asked for that does not exist");
  const locked guard(mutex);
  handled& one = signals[static_cast<std::size_t>(signal)];
  if (!one.yet) handle(signal, one.before);
  one.yet = true;
  return one.count;
}

}  // namespace hocket::inline HOCKET_ABI::detail
