// FAULTS 50: a server beside children of its process. A signal that a child gets, and what a child does to its copies
// of the server's fds, ends neither the server nor a connection.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <span>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<> echo(tcp::stream peer) {
  char byte = 0;
  for (;;) {
    const auto size = co_await peer.read_some(std::span(&byte, 1));
    if (!size || *size == 0) co_return;
    const auto sent = co_await peer.write_all(std::span(&byte, 1));
    if (!sent) co_return;
  }
}

bool is_echoed(tcp::stream& peer, char byte) {
  char answer = 0;
  return sync_wait(peer.write_all(std::span(&byte, 1))).has_value() &&
         sync_wait(peer.read_exactly(std::span(&answer, 1))).has_value() && answer == byte;
}

// --- children, by system calls alone: the process has several threads

[[noreturn]] void signal_itself() {
  ::syscall(SYS_kill, ::syscall(SYS_getpid), SIGUSR1);
  ::_exit(0);
}
[[noreturn]] void close_all() {
  for (int fd = 3; fd != 1000; ++fd) ::close(fd);
  ::_exit(0);
}

void end_of(pid_t child) {
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

void signal_a_fork() {
  const pid_t child = ::fork();
  if (child == 0) signal_itself();
  end_of(child);
}
void signal_a_raw_child() {
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) signal_itself();
  end_of(child);
}
// Again and again, since the first ones may reach it before its pause.
void signal_from_outside() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  int status = -1;
  for (; ::waitpid(child, &status, WNOHANG) == 0; std::this_thread::yield()) ::kill(child, SIGUSR1);
  CHECK(status == 0);
}
void close_in_a_fork() {
  const pid_t child = ::fork();
  if (child == 0) close_all();
  end_of(child);
}

// The server runs until this process gets its signal, and serves beside the children until then.
template <class Place>
void serve_beside_children(Place& where) {
  signal_set signals{SIGUSR1};
  auto server = tcp::serve(where, "127.0.0.1:0", echo).value();
  bool is_served = false;
  std::thread beside([&, address = server.local_address()] {
    auto before = sync_wait(tcp::connect(address)).value();
    is_served = is_echoed(before, 'a');
    for (auto child : {&signal_a_fork, &signal_a_raw_child, &signal_from_outside, &close_in_a_fork}) {
      child();
      is_served = is_served && is_echoed(before, 'b');
      auto after = sync_wait(tcp::connect(address)).value();
      is_served = is_served && is_echoed(after, 'c');
    }
    before.close();
    ::kill(::getpid(), SIGUSR1);
  });
  const shutdown_report report = server.run_until(signals, {.drain = 24h});
  beside.join();
  CHECK(is_served);
  CHECK(report.cancelled == 0);
}

}  // namespace

TEST_CASE("a server on a loop runs until its own signal, whatever its children get and close (fault 50)") {
  loop where;
  serve_beside_children(where);
}

TEST_CASE("a server on workers runs until its own signal, whatever its children get and close (fault 50)") {
  runtime where({.workers = 2});
  serve_beside_children(where);
}
