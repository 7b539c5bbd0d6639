// A signal that arrives as soon as its handler is installed, while the set is constructed. The linker leads
// sigaction(2) to this file (--wrap).
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <initializer_list>
#include <system_error>

using namespace hocket;
using namespace std::chrono_literals;

namespace {
std::atomic<int> raised_behind_handler{0};  // a signal, or 0
}  // namespace

// NOLINTBEGIN: the names are the linker's
extern "C" {
int __real_sigaction(int signal, const struct sigaction* action, struct sigaction* before);
int __wrap_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  const int result = __real_sigaction(signal, action, before);
  if (action && action->sa_handler != SIG_DFL && signal == raised_behind_handler) ::raise(signal);
  return result;
}
}
// NOLINTEND

TEST_CASE("a set receives a signal from the moment at which its default action does not happen") {
  const auto receive_first = [](std::initializer_list<int> signals) {
    raised_behind_handler = SIGUSR1;
    signal_set set(signals);
    raised_behind_handler = 0;
    return sync_wait(within(20s, set.next()));
  };
  CHECK(receive_first({SIGUSR1}) == SIGUSR1);
  CHECK(receive_first({SIGUSR2, SIGUSR1}) == SIGUSR1);
  CHECK(receive_first({SIGUSR1, SIGUSR1}) == SIGUSR1);
}

TEST_CASE("a refused set leaves no signal to the next set") {
  for (const int refused : {SIGKILL, 0, -1, 65}) {
    raised_behind_handler = SIGUSR1;
    CHECK_THROWS_AS(signal_set({SIGUSR1, refused}), std::system_error);
    raised_behind_handler = 0;
    signal_set set{SIGUSR1};
    CHECK(sync_wait(within(0s, set.next())).error() == std::errc::timed_out);
  }
}
