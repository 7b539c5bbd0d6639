// What a process inherits of signals, and passes on: each state that a launcher may leave a signal in, with a set that
// receives it and without one, here and in children. The rows of docs/io.md, "What a child inherits", are made here.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/death.hpp"

#include <array>
#include <csignal>
#include <doctest/doctest.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr int signal_of_table = SIGHUP;  // nohup(1) ignores it

struct state {
  bool is_ignored, is_blocked;
  std::string text() const {
    return std::string(is_ignored ? "ignored" : "default action") + (is_blocked ? ", blocked" : "");
  }
};

bool has_bit(const std::string& status, const std::string& label, int signal) {
  const std::size_t at = status.find(label + ":\t");
  REQUIRE(at != std::string::npos);
  return (std::stoull(status.substr(at + label.size() + 2, 16), nullptr, 16) >> (signal - 1) & 1) != 0;
}

state state_in(const std::string& status, int signal = signal_of_table) {
  return {has_bit(status, "SigIgn", signal), has_bit(status, "SigBlk", signal)};
}

std::string status_here() {
  std::ifstream file("/proc/thread-self/status");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string status_of_started(const process_options& options = {}) {
  process_options with_pipe = options;
  with_pipe.out = process::pipe;
  process child = process::start({"cat", "/proc/self/status"}, with_pipe).value();
  std::string text = sync_wait(read_all(child.out())).value();
  CHECK(sync_wait(child.wait()) == exit_status(0));
  return text;
}

std::string status_of_forked() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    for (const int fd : ends) ::close(fd);
    ::execlp("cat", "cat", "/proc/self/status", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  stream out = stream::adopt(ends[0]).value();
  std::string text = sync_wait(read_all(out)).value();
  ::waitpid(child, nullptr, 0);
  return text;
}

void change_mask(int operation, int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::pthread_sigmask(operation, &set, nullptr);
}

void leave_as(const state& launcher, int signal = signal_of_table) {
  std::signal(signal, launcher.is_ignored ? SIG_IGN : SIG_DFL);
  change_mask(launcher.is_blocked ? SIG_BLOCK : SIG_UNBLOCK, signal);
}

std::string row_of(const state& launcher, bool has_set) {
  leave_as(launcher);
  std::optional<signal_set> signals;
  if (has_set) signals.emplace(std::initializer_list<int>{signal_of_table});
  if (has_set) ::raise(signal_of_table);
  const bool is_received = has_set && sync_wait(within(20s, signals->next())) == signal_of_table;
  CHECK(is_received == has_set);
  const state started = state_in(status_of_started()), forked = state_in(status_of_forked());
  signals.reset();
  const state afterwards = state_in(status_here());
  std::string row = "| " + launcher.text() + " | " + (has_set ? "receives it" : "none");
  for (const state& reached : {afterwards, started, forked}) row += " | " + reached.text();
  return row + " |";
}

template <class Body>
void for_each_state(Body body) {
  for (const bool is_ignored : {false, true}) {
    for (const bool is_blocked : {false, true}) body(state{is_ignored, is_blocked});
  }
}

bool is_blocked_here(int signal) { return state_in(status_here(), signal).is_blocked; }

}  // namespace

TEST_CASE("docs/io.md says what becomes of a signal in each state, with a set and without" *
          doctest::skip(starts_no_children())) {
  std::ifstream file(HOCKET_TEST_DOCS "/io.md");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for_each_state([&](const state& launcher) {
    for (const bool has_set : {false, true}) {
      expect_return([&] {
        const std::string row = row_of(launcher, has_set);
        INFO(row);
        if (text.find(row) == std::string::npos) FAIL("docs/io.md has no row: " << row);
      });
    }
  });
}

TEST_CASE("a set hears what was pending and blocked before its construction") {
  expect_return([] {
    change_mask(SIG_BLOCK, SIGUSR1);
    ::raise(SIGUSR1);
    signal_set signals{SIGUSR1};
    CHECK(sync_wait(within(20s, signals.next())) == SIGUSR1);
    CHECK_FALSE(is_blocked_here(SIGUSR1));
  });
}

TEST_CASE("a set unblocks its own signals alone, and a refused set none") {
  expect_return([] {
    for (const int signal : {SIGUSR1, SIGUSR2}) change_mask(SIG_BLOCK, signal);
    CHECK_THROWS_AS(signal_set({SIGUSR1, SIGKILL}), std::system_error);
    CHECK(is_blocked_here(SIGUSR1));
    const signal_set signals{SIGUSR1};
    CHECK_FALSE(is_blocked_here(SIGUSR1));
    CHECK(is_blocked_here(SIGUSR2));
  });
}

TEST_CASE("a signal of the process that its launcher has blocked reaches a set on a worker") {
  expect_return([] {
    change_mask(SIG_BLOCK, SIGUSR1);
    runtime rt({.workers = 2});
    CHECK(sync_wait(spawn(rt, []() -> task<int> {
            signal_set signals{SIGUSR1};
            ::kill(::getpid(), SIGUSR1);
            co_return (co_await within(20s, signals.next())).value_or(-1);
          })) == SIGUSR1);
  });
}

TEST_CASE("threads of the library that begin beside a set have its signals unblocked, whoever makes them") {
  expect_return([] {
    change_mask(SIG_BLOCK, SIGUSR1);
    change_mask(SIG_BLOCK, SIGUSR2);
    std::optional<signal_set> signals;
    std::thread([&] { signals.emplace(std::initializer_list<int>{SIGUSR1}); }).join();  // the only thread that had it
    CHECK(is_blocked_here(SIGUSR1));
    runtime rt({.workers = 1});
    const auto masks = []() -> task<std::array<bool, 3>> {
      co_return std::array{is_blocked_here(SIGUSR1), is_blocked_here(SIGUSR2), is_blocked_here(SIGXFSZ)};
    };
    CHECK(sync_wait(spawn(rt, masks)) == std::array{false, true, true});
    if (detail::sanitizer == detail::sanitizer_kind::tsan) return;  // it delays signals of threads that sleep
    ::kill(::getpid(), SIGUSR1);
    CHECK(sync_wait(within(20s, signals->next())) == SIGUSR1);
  });
}

// The thread that dumps waits for the signal.
TEST_CASE("a runtime dumps upon a signal that its launcher has blocked, and refuses signals of faults") {
  const child_end end = end_of_child([] {
    change_mask(SIG_BLOCK, SIGQUIT);
    runtime rt({.workers = 1, .name = "dumped", .dump_on_signal = SIGQUIT});
    ::kill(::getpid(), SIGQUIT);
    sigset_t pending;
    do {
      std::this_thread::yield();
      ::sigpending(&pending);
    } while (sigismember(&pending, SIGQUIT) == 1);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      CHECK_THROWS_AS(runtime({.workers = 1, .dump_on_signal = fault}), std::system_error);
  });
  INFO(end.errors);
  CHECK(end.returned);
}

TEST_CASE("a child ignores the signals of its options, and has the default action of SIGPIPE unless it is among them" *
          doctest::skip(starts_no_children())) {
  expect_return([] {
    for (const int signal : {SIGHUP, SIGPIPE, SIGTERM}) leave_as({false, false}, signal);
    const int ignored[] = {SIGHUP, SIGTERM};
    const std::string some = status_of_started({.ignored_signals = ignored});
    CHECK(state_in(some, SIGHUP).is_ignored);
    CHECK(state_in(some, SIGTERM).is_ignored);
    CHECK_FALSE(state_in(some, SIGPIPE).is_ignored);
    leave_as({true, false}, SIGPIPE);
    CHECK_FALSE(state_in(status_of_started(), SIGPIPE).is_ignored);
    const signal_set signals{SIGPIPE};
    CHECK_FALSE(state_in(status_of_started(), SIGPIPE).is_ignored);
    const int pipe[] = {SIGPIPE};
    CHECK(state_in(status_of_started({.ignored_signals = pipe}), SIGPIPE).is_ignored);
    for (const int wrong : {0, -1, 65, SIGKILL, SIGSTOP}) {
      const int refused[] = {SIGHUP, wrong};
      CHECK(process::start({"true"}, {.ignored_signals = refused}).error_or({}) == std::errc::invalid_argument);
    }
  });
}
