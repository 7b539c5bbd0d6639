// Signals for coroutines. They are sent to this process, on its own thread, or to children of it.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
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

bool hears_nothing(signal_set& from) {
  return sync_wait(within(0ms, from.next())).error_or({}) == std::errc::timed_out;
}

// --- children of each kind, which send SIGUSR1 to themselves and end

// By system calls: no fork handler runs. The child gets a copy of the memory.
pid_t clone_raw() { return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }

[[noreturn]] void signal_itself() {
  ::syscall(SYS_kill, ::syscall(SYS_getpid), SIGUSR1);
  ::_exit(0);
}

void signal_a_fork() {
  const pid_t child = ::fork();
  if (child == 0) signal_itself();
  ::waitpid(child, nullptr, 0);
}
void signal_a_raw_child() {
  const pid_t child = clone_raw();
  if (child == 0) signal_itself();
  ::waitpid(child, nullptr, 0);
}
// The child has the memory of its parent.
void signal_a_vfork() {
  const pid_t child = ::vfork();
  if (child == 0) signal_itself();
  ::waitpid(child, nullptr, 0);
}
void signal_a_grandchild() {
  const pid_t child = ::fork();
  if (child == 0) {
    signal_a_fork();
    signal_a_raw_child();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

constexpr void (*all_kinds_of_children[])() = {&signal_a_fork, &signal_a_raw_child, &signal_a_vfork,
                                               &signal_a_grandchild};

// What all event fds of this process have counted.
unsigned long counted_events() {
  unsigned long sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      constexpr std::string_view label = "eventfd-count:";
      if (line.starts_with(label)) sum += std::stoul(line.substr(label.size()), nullptr, 16);
    }
  }
  return sum;
}

// Whether that thread of this process is in a read(2).
bool is_reading(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  long number = -1;
  return file >> number && number == SYS_read;
}

}  // namespace

TEST_CASE("a set keeps the signals that come between two waits, each once, the lowest first") {
  signal_set signals{SIGUSR2, SIGUSR1};
  ::raise(SIGUSR2);
  ::raise(SIGUSR1);
  ::raise(SIGUSR1);
  CHECK(sync_wait(signals.next()) == SIGUSR1);
  CHECK(sync_wait(signals.next()) == SIGUSR2);
  auto none = sync_wait(within(1ms, signals.next()));
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error() == std::errc::timed_out);
  ::raise(SIGUSR1);
  CHECK(sync_wait(signals.next()) == SIGUSR1);
}

TEST_CASE("a coroutine waits for signals") {
  loop lp;
  signal_set signals{SIGUSR1, SIGUSR2};
  int first = 0, second = 0;
  auto taken = spawn(lp, take_two, std::ref(signals), std::ref(first), std::ref(second));
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
  signal_set signals{SIGUSR1};
  auto heard = spawn(lp, [&signals] { return *await(signals.next()); });
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
    signal_set signals{SIGUSR2};
    CHECK_FALSE(is_default(SIGUSR2));
    ::raise(SIGUSR2);
  }
  CHECK(is_default(SIGUSR2));
  signal_set signals{SIGUSR2, SIGUSR1};
  CHECK_FALSE(sync_wait(within(0ms, signals.next())).has_value());
}

TEST_CASE("a set in the place of an ended one hears the signals that the other had kept, when they are sent again") {
  {
    signal_set kept{SIGUSR1, SIGUSR2};
    ::raise(SIGUSR1);
    ::raise(SIGUSR2);
  }
  signal_set signals{SIGUSR1, SIGUSR2};
  CHECK(hears_nothing(signals));
  for (const int signal : {SIGUSR1, SIGUSR2}) {
    ::raise(signal);
    CHECK(sync_wait(within(20s, signals.next())) == signal);
  }
}

TEST_CASE("a signal that a set names twice has its default action again after the set") {
  {
    signal_set twice{SIGUSR1, SIGUSR2, SIGUSR1};
  }
  CHECK(is_default(SIGUSR1));
  CHECK(is_default(SIGUSR2));
}

TEST_CASE("a signal that was taken for a killed coroutine is told to the next wait") {
  loop lp;
  signal_set signals{SIGUSR1};
  auto killed =
      spawn(lp, [](signal_set& from) -> task<> { static_cast<void>(co_await from.next()); }, std::ref(signals));
  lp.poll();
  ::raise(SIGUSR1);
  killed.kill();
  lp.run();
  CHECK(sync_wait(within(20s, signals.next())) == SIGUSR1);
  CHECK(hears_nothing(signals));
}

TEST_CASE("a handler of hocket leaves errno and the mask of its thread as they are, and interrupts no call") {
  signal_set signals{SIGUSR1};
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::atomic<int> id{0};
  ssize_t got = 0;
  std::thread reader([&] {
    char byte = 0;
    id = static_cast<int>(::syscall(SYS_gettid));
    got = ::read(ends[0], &byte, 1);
  });
  while (id == 0 || !is_reading(id)) std::this_thread::yield();
  ::pthread_kill(reader.native_handle(), SIGUSR1);
  CHECK(sync_wait(within(20s, signals.next())) == SIGUSR1);
  CHECK(::write(ends[1], "x", 1) == 1);
  reader.join();
  CHECK(got == 1);
  for (const int fd : ends) ::close(fd);

  sigset_t before, after;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  errno = ENOENT;
  ::raise(SIGUSR1);
  CHECK(errno == ENOENT);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (int signal = 1; signal != 65; ++signal) CHECK(sigismember(&before, signal) == sigismember(&after, signal));
}

TEST_CASE("a signal of a child of any kind is not told to the parent, whose wait continues") {
  signal_set signals{SIGUSR1};
  loop lp;
  auto heard = spawn(
      lp, [](signal_set& from) -> task<int> { co_return (co_await from.next()).value_or(-1); }, std::ref(signals));
  lp.poll();
  for (auto signal_child : all_kinds_of_children) {
    signal_child();
    for (int i = 0; i < 20; ++i) lp.poll();
    CHECK_FALSE(heard.done());
  }
  ::raise(SIGUSR1);
  lp.run_until(heard);
  CHECK(sync_wait(heard) == SIGUSR1);
  CHECK(hears_nothing(signals));
}

TEST_CASE("a forked child hears its own signals by its parent's set, and by sets of its own, and nothing older") {
  signal_set signals{SIGUSR1, SIGUSR2};
  ::raise(SIGUSR2);  // of the parent
  expect_return([&] {
    CHECK(hears_nothing(signals));
    ::raise(SIGUSR1);
    CHECK(sync_wait(within(20s, signals.next())) == SIGUSR1);
    signal_set own{SIGUSR1};
    std::thread([] { ::kill(::getpid(), SIGUSR1); }).join();
    CHECK(sync_wait(within(20s, signals.next())) == SIGUSR1);
    CHECK(sync_wait(within(20s, own.next())) == SIGUSR1);
    expect_return([&] {
      ::raise(SIGUSR1);
      CHECK(sync_wait(within(20s, signals.next())) == SIGUSR1);
      CHECK(sync_wait(within(20s, own.next())) == SIGUSR1);
    });
    CHECK(hears_nothing(signals));
  });
  CHECK(sync_wait(within(20s, signals.next())) == SIGUSR2);
  CHECK(hears_nothing(signals));
}

TEST_CASE("a forked child leaves the event of its parent's set alone") {
  signal_set signals{SIGUSR1};
  const unsigned long before = counted_events();
  for (auto signal_child : all_kinds_of_children) signal_child();
  CHECK(counted_events() == before);
  ::raise(SIGUSR1);
  CHECK(counted_events() == before + 1);
  CHECK(sync_wait(within(20s, signals.next())) == SIGUSR1);
}

TEST_CASE("a signal that is sent to a child before fork() has returned there is heard by the child") {
  signal_set signals{SIGUSR1};
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(sync_wait(within(20s, signals.next())) == SIGUSR1 ? 0 : 1);
    ::kill(child, SIGUSR1);
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(hears_nothing(signals));
}

TEST_CASE("a forked child ends its parent's set for itself alone") {
  auto signals = std::make_unique<signal_set>(std::initializer_list<int>{SIGUSR1});
  ::raise(SIGUSR1);
  expect_return([&] {
    signals.reset();
    CHECK(is_default(SIGUSR1));
    signal_set next{SIGUSR1};
    CHECK(hears_nothing(next));
  });
  CHECK_FALSE(is_default(SIGUSR1));
  CHECK(sync_wait(within(20s, signals->next())) == SIGUSR1);
}

TEST_CASE("a child that has no fd left for a set tells the error, and its parent hears nothing of it") {
  signal_set signals{SIGUSR1};
  expect_return([&] {
    std::vector<int> fds;
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fds.push_back(fd);
    const pid_t child = ::fork();
    if (child == 0) {
      for (const int fd : fds) ::close(fd);
      ::raise(SIGUSR1);
      CHECK(sync_wait(signals.next()).error_or({}) == std::errc::too_many_files_open);
      signal_set own{SIGUSR1};
      ::raise(SIGUSR1);
      CHECK(sync_wait(within(20s, own.next())) == SIGUSR1);
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    for (const int fd : fds) ::close(fd);
    CHECK(hears_nothing(signals));
  });
  CHECK(hears_nothing(signals));
}

TEST_CASE("what is no signal, or cannot be heard, is refused, and nothing stays") {
  for (const int wrong : {0, -1, 65, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    CHECK_THROWS_AS(signal_set({SIGUSR2, wrong}), std::system_error);
    CHECK(is_default(SIGUSR2));
  }
}
