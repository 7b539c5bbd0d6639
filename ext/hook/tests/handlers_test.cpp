// Signal handlers in hooked fibers: their calls never wait, and sigaction() gives the program what it has set.
#include "connections.hpp"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <poll.h>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;

}  // namespace

TEST_CASE("a signal handler's calls are tried and never wait, also where it came into a wait") {
  static two_ends* ends = nullptr;
  static std::atomic<int> failed{0}, written{0};
  two_ends own(pipe_ends);
  ends = &own;
  failed = written = 0;
  const auto before = std::signal(SIGUSR1, [](int) {
    char byte = 0;
    written += ::write(ends->out(), "x", 1) == 1;
    while (::read(ends->in(), &byte, 1) == 1) {
    }
    failed += errno == ECANCELED;
  });
  in_fiber([] { ::raise(SIGUSR1); });
  CHECK(written == 1);
  CHECK(failed == 1);
  // sigaction() returns the user's handler.
  struct sigaction installed{};
  REQUIRE(::sigaction(SIGUSR1, nullptr, &installed) == 0);
  CHECK((installed.sa_flags & SA_SIGINFO) == 0);
  const bool is_the_same = std::signal(SIGUSR1, before) == installed.sa_handler;
  CHECK(is_the_same);
}

TEST_CASE("calls in a handler never wait, whatever the flags of the handler") {
  static two_ends* ends = nullptr;
  static std::atomic<int> ended{0};
  for (const int flags :
       {0, SA_NODEFER, static_cast<int>(SA_RESETHAND), SA_SIGINFO, SA_NODEFER | SA_SIGINFO, SA_RESTART | SA_NODEFER}) {
    CAPTURE(flags);
    two_ends own(pipe_ends);
    ends = &own;
    ended = 0;
    struct sigaction action{}, before{};
    action.sa_flags = flags;
    static constexpr auto make_calls = [] {
      pollfd pfd{ends->in(), POLLIN, 0};
      ended += ::poll(&pfd, 1, 20) == -1 && errno == ECANCELED;
      ended += ::usleep(1000) == -1 && errno == ECANCELED;
    };
    if ((flags & SA_SIGINFO) != 0) action.sa_sigaction = [](int, siginfo_t*, void*) { make_calls(); };
    else action.sa_handler = [](int) { make_calls(); };
    REQUIRE(::sigaction(SIGUSR1, &action, &before) == 0);
    in_fiber([] { ::raise(SIGUSR1); });
    CHECK(ended == 2);
    REQUIRE(::sigaction(SIGUSR1, &before, nullptr) == 0);
  }
}

// More than the notes of a thread have room for.
TEST_CASE("calls never wait in a handler that interrupts twenty others, and wait after the last one") {
  static std::atomic<int> depth{0}, ended{0};
  depth = ended = 0;
  struct sigaction action{}, before{};
  action.sa_flags = SA_NODEFER;
  action.sa_handler = [](int) {
    if (++depth != 20) ::raise(SIGUSR1);
    ended += ::usleep(1000) == -1 && errno == ECANCELED;
  };
  REQUIRE(::sigaction(SIGUSR1, &action, &before) == 0);
  // Twenty frames of signals: a frame takes 3 KB if the processor has AVX-512.
  in_fiber(
      [] {
        ::raise(SIGUSR1);
        CHECK(::usleep(1) == 0);
      },
      {.stack_size = std::size_t{1} << 20});
  CHECK(ended == 20);
  REQUIRE(::sigaction(SIGUSR1, &before, nullptr) == 0);
}

// It has no room. The pipe is ready, so that the system would report the pipe alone.
TEST_CASE("select in a handler reports a marked connection") {
  static connection_ends* connection = nullptr;
  static two_ends* pipe = nullptr;
  static std::atomic<int> returned{0};
  static std::atomic<bool> is_writable{false};
  connection_ends marked;
  two_ends readable(pipe_ends);
  connection = &marked;
  pipe = &readable;
  const auto before = std::signal(SIGUSR1, [](int) {
    fd_set in, out;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(pipe->in(), &in);
    FD_SET(connection->client(), &out);
    timeval limit{60, 0};
    returned = ::select(std::max(pipe->in(), connection->client()) + 1, &in, &out, nullptr, &limit);
    is_writable = FD_ISSET(connection->client(), &out) != 0;
  });
  write_text(readable.out(), "x");
  in_fiber([] {
    const std::string many(1'000'000, 'm');
    const auto ended = hook::within(1ms, [&] {
      while (::send(connection->client(), many.data(), many.size(), 0) > 0) continue;
    });
    CHECK(ended.error_or({}) == std::errc::timed_out);
    ::raise(SIGUSR1);
  });
  CHECK(returned == 1);
  CHECK(is_writable);
  std::signal(SIGUSR1, before);
}

TEST_CASE("a handler that is left by siglongjmp is over") {
  static sigjmp_buf back;
  two_ends ends(pipe_ends);
  const auto before = std::signal(SIGUSR1, [](int) { siglongjmp(back, 1); });
  std::string text;
  meet(
      [&] {
        if (sigsetjmp(back, 1) == 0) ::raise(SIGUSR1);
        text = read_text(ends.in());
      },
      [&] { write_text(ends.out(), "after"); });
  CHECK(text == "after");
  std::signal(SIGUSR1, before);
}

TEST_CASE("a handler with SA_SIGINFO gets its information") {
  static std::atomic<int> code{0};
  struct sigaction action{}, before{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void* context) { code = context ? info->si_value.sival_int : -1; };
  REQUIRE(::sigaction(SIGUSR2, &action, &before) == 0);
  REQUIRE(::sigqueue(::getpid(), SIGUSR2, {42}) == 0);
  CHECK(code == 42);
  struct sigaction installed{};
  REQUIRE(::sigaction(SIGUSR2, &before, &installed) == 0);
  const bool is_the_same = installed.sa_sigaction == action.sa_sigaction;
  CHECK(is_the_same);
  CHECK((installed.sa_flags & SA_SIGINFO) != 0);
  errno = 0;
  CHECK(::sigaction(SIGKILL, &action, nullptr) == -1);
  CHECK(errno == EINVAL);
}
