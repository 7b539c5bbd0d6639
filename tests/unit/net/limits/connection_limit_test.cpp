// How many connections servers have at a time: their own limits, and the one that they share without. The first server
// of a process determines the limit that is shared, so each case has a process of its own, and this program opens no
// other server.
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/death.hpp"
#include "support/echo.hpp"

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

rlimit descriptor_limit() {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  return limit;
}
void limit_descriptors(rlim_t soft, rlim_t hard) {
  const rlimit limit{soft, hard};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

// Clients in a process of their own, with as many fds as the server may have. They stay until the end.
class crowd {
 public:
  crowd(std::uint16_t port, int count) {
    int pipe[2];
    REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
    id_ = ::fork();
    if (id_ == 0) {
      const int last = static_cast<int>(descriptor_limit().rlim_cur);
      for (int fd = 3; fd < last; ++fd) {
        if (fd != pipe[0]) ::close(fd);
      }
      for (int i = 0; i < count; ++i) connect_to(port);
      char byte = 0;
      static_cast<void>(::read(pipe[0], &byte, 1));  // until the parent closes its end
      ::_exit(0);
    }
    ::close(pipe[0]);
    until_ = pipe[1];
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd() {
    ::close(until_);
    ::waitpid(id_, nullptr, 0);
  }

 private:
  static void connect_to(std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) ::_exit(1);
  }

  pid_t id_ = -1;
  int until_ = -1;
};

void wait_for_connections(const tcp::server& server, std::size_t count) {
  while (server.connections() != count) std::this_thread::yield();
}

// On a runtime of one worker: all that its acceptors can accept now is accepted.
void accept_all(runtime& rt) {
  sync_wait(spawn(rt, []() -> task<> {
    for (int i = 0; i < 1000; ++i) co_await yield();
  }));
}

template <class Body>
void expect_to_return(Body body) {
  const child_end end = end_of_child(body);
  INFO(end.errors);
  CHECK(end.returned);
}

}  // namespace

TEST_CASE("the first server of a process raises the soft limit of descriptors to the hard one") {
  expect_to_return([] {
    limit_descriptors(64, 100);
    loop lp;
    CHECK(tcp::serve(lp, "127.0.0.1:0", echo).has_value());
    CHECK(descriptor_limit().rlim_cur == 100);
  });
}

// Of a hundred. The connections that wait are accepted as far as an acceptor can hold them: one for each listener.
TEST_CASE("servers without a limit share four fifths of the descriptors that the process may have") {
  expect_to_return([] {
    limit_descriptors(100, 100);
    runtime rt({.workers = 1});
    auto first = tcp::serve(rt, "127.0.0.1:0", echo).value();
    auto second = tcp::serve(rt, "127.0.0.1:0", echo).value();
    {
      const crowd some(first.local_address().port(), 50);
      wait_for_connections(first, 50);
      const crowd more(second.local_address().port(), 40);
      wait_for_connections(second, 30);
      accept_all(rt);
      CHECK(first.connections() + second.connections() == 80);
    }
    wait_for_connections(first, 0);
    wait_for_connections(second, 0);
    const crowd all(second.local_address().port(), 85);  // the permits have come back
    wait_for_connections(second, 80);
    accept_all(rt);
    CHECK(second.connections() == 80);
    CHECK(second.counts().refused == 0);
  });
}

TEST_CASE("a server without any limit takes connections until there are no descriptors") {
  if (detail::sanitizer == detail::sanitizer_kind::asan) return;  // UBSan looks at memory through a pipe
  expect_to_return([] {
    set_log_handler([](const char*) noexcept {});
    limit_descriptors(100, 100);
    runtime rt({.workers = 1});
    auto server = tcp::serve(rt, "127.0.0.1:0", {.max_connections = tcp::serve_options::unlimited}, echo).value();
    const crowd some(server.local_address().port(), 60), others(server.local_address().port(), 60);
    while (server.counts().accepted + server.counts().refused < 120) std::this_thread::yield();
    CHECK(server.connections() > 80);
    CHECK(server.counts().refused > 20);
  });
}

TEST_CASE("a limit of a server's own is beside the one that the others share") {
  expect_to_return([] {
    limit_descriptors(100, 100);
    runtime rt({.workers = 1});
    auto own = tcp::serve(rt, "127.0.0.1:0", {.max_connections = 3}, echo).value();
    auto sharing = tcp::serve(rt, "127.0.0.1:0", echo).value();
    const crowd few(own.local_address().port(), 5);
    wait_for_connections(own, 3);
    const crowd many(sharing.local_address().port(), 85);
    wait_for_connections(sharing, 80);
    accept_all(rt);
    CHECK(own.connections() == 3);
    CHECK(sharing.connections() == 80);
  });
}
