// Signals for coroutines. They are sent to this process, on its own thread.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"

#include <csignal>
#include <doctest/doctest.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<> take_two(signal_set& from, int& first, int& second) {
  first = *co_await from.next();
  second = *co_await from.next();
}

int handled = 0;

bool is_default(int signal) {
  struct sigaction present{};
  ::sigaction(signal, nullptr, &present);
  return present.sa_handler == SIG_DFL;
}

}  // namespace

TEST_CASE("a set keeps the signals that come between two waits, each once, the lowest first") {
  signal_set asked{SIGUSR2, SIGUSR1};
  ::raise(SIGUSR2);
  ::raise(SIGUSR1);
  ::raise(SIGUSR1);
  CHECK(sync_wait(asked.next()) == SIGUSR1);
  CHECK(sync_wait(asked.next()) == SIGUSR2);
  auto none = sync_wait(within(1ms, asked.next()));
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error() == std::errc::timed_out);
  ::raise(SIGUSR1);
  CHECK(sync_wait(asked.next()) == SIGUSR1);
}

TEST_CASE("a coroutine waits for signals") {
  loop lp;
  signal_set asked{SIGUSR1, SIGUSR2};
  int first = 0, second = 0;
  auto taken = spawn(lp, take_two, std::ref(asked), std::ref(first), std::ref(second));
  lp.poll();
  ::raise(SIGUSR2);
  lp.poll();
  ::raise(SIGUSR1);
  lp.run_until(taken);
  CHECK(first == SIGUSR2);
  CHECK(second == SIGUSR1);
}

TEST_CASE("a fiber waits for signals") {
  loop lp;
  signal_set asked{SIGUSR1};
  auto heard = spawn(lp, [&asked] { return *await(asked.next()); });
  lp.poll();
  ::raise(SIGUSR1);
  lp.run_until(heard);
  CHECK(sync_wait(heard) == SIGUSR1);
}

TEST_CASE("every set hears its signals, a former handler is called, and at the end it is back") {
  struct sigaction former{}, before{};
  former.sa_handler = [](int) { ++handled; };
  ::sigaction(SIGUSR1, &former, &before);
  handled = 0;
  {
    signal_set one{SIGUSR1};
    {
      signal_set other{SIGUSR1, SIGUSR1};
      ::raise(SIGUSR1);
      CHECK(handled == 1);
      CHECK(sync_wait(one.next()) == SIGUSR1);
      CHECK(sync_wait(other.next()) == SIGUSR1);
    }
    ::raise(SIGUSR1);
    CHECK(sync_wait(one.next()) == SIGUSR1);
  }
  ::raise(SIGUSR1);
  CHECK(handled == 3);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("the end of the last set brings the default action back, and a later set hears nothing old") {
  CHECK(is_default(SIGUSR2));
  {
    signal_set asked{SIGUSR2};
    CHECK_FALSE(is_default(SIGUSR2));
    ::raise(SIGUSR2);
  }
  CHECK(is_default(SIGUSR2));
  signal_set asked{SIGUSR2, SIGUSR1};
  CHECK_FALSE(sync_wait(within(0ms, asked.next())).has_value());
}

TEST_CASE("what is no signal, or cannot be heard, is refused, and nothing stays") {
  for (const int wrong : {0, -1, 65, SIGKILL, SIGSTOP}) {
    CHECK_THROWS_AS(signal_set({SIGUSR2, wrong}), std::system_error);
    CHECK(is_default(SIGUSR2));
  }
}
