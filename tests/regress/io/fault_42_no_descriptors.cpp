// FAULTS 42: more connections than descriptors. A server that has none left closes what it cannot serve, so that every
// client sees an answer or an end; it tells of it once a second at most, and serves again when there are descriptors.
//
// The server is in a child, whose limit is lowered. The clients are in a child of that one, with numbers of their own.
#include <hocket/base/clock.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/death.hpp"
#include "support/echo.hpp"
#include "support/numbers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

std::atomic<int> notices{0};

void limit_numbers(rlim_t most) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min(most, limit.rlim_max);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}
// A server raises the soft limit to the hard one.
void limit_numbers_for_ever(rlim_t most) {
  const rlimit limit{most, most};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

// --- clients, in a process without hocket

int call(int port) {
  const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (number < 0 || ::connect(number, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) ::_exit(2);
  return number;
}

// Whether the server answers, and does not end the connection. A reset is an end, too.
bool answers(int number) {
  char byte = 'a';
  if (::send(number, &byte, 1, MSG_NOSIGNAL) != 1) return false;
  return ::recv(number, &byte, 1, 0) == 1;
}

// Exit code 0: some were served, others refused, and at the end a single one is served.
void be_the_clients(int port, int count, int at_a_time) {
  int served = 0, refused = 0;
  for (int begun = 0; begun < count;) {
    std::vector<int> all;
    for (; begun < count && static_cast<int>(all.size()) < at_a_time; ++begun) all.push_back(call(port));
    for (const int one : all) ++(answers(one) ? served : refused);
    for (const int one : all) ::close(one);
  }
  for (;;) {
    const int last = call(port);
    const bool good = answers(last);
    ::close(last);
    if (good) break;
  }
  ::_exit(served != 0 && refused != 0 ? 0 : 1);
}

std::int64_t second_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(steady_clock().now().time_since_epoch()).count();
}

struct crowd {
  std::size_t workers;
  rlim_t numbers;
  int clients, at_a_time;
};

// In a child.
void serve_a_crowd(const crowd& of) {
  number_pipe told;  // the port
  const pid_t clients = ::fork();
  if (clients == 0) {
    int port = 0;
    if (::read(told.in, &port, sizeof port) != sizeof port) ::_exit(3);
    limit_numbers(static_cast<rlim_t>(of.at_a_time) + 100);
    be_the_clients(port, of.clients, of.at_a_time);
  }
  set_log_handler([](const char*) noexcept { ++notices; });
  const std::int64_t first = second_now();
  limit_numbers_for_ever(of.numbers);
  {
    runtime rt({.workers = of.workers});
    auto server = tcp::serve(rt, "127.0.0.1:0", {.max_connections = tcp::serve_options::unlimited}, echo).value();
    const int port = server.local_address().port();
    REQUIRE(::write(told.out, &port, sizeof port) == sizeof port);
    int status = -1;
    REQUIRE(::waitpid(clients, &status, 0) == clients);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK(server.counts().refused != 0);
    CHECK(server.counts().accepted + server.counts().refused > static_cast<std::size_t>(of.clients));
  }
  CHECK(notices >= 1);
  CHECK(notices <= second_now() - first + 1);
}

void crowd_in_child(const crowd& of) {
  if (detail::sanitizer == detail::sanitizer_kind::asan) return;  // UBSan looks at memory through a pipe
  const child_end end = end_of_child([&] { serve_a_crowd(of); });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

}  // namespace

TEST_CASE("two hundred clients meet a server with few descriptors: each is served or sees an end (fault 42)") {
  for (const std::size_t workers : {std::size_t{1}, std::size_t{4}})
    crowd_in_child({.workers = workers, .numbers = 64, .clients = 200, .at_a_time = 200});
}

TEST_CASE("ten thousand connections meet a server with a thousand descriptors (fault 42)") {
  crowd_in_child({.workers = 4, .numbers = 1000, .clients = 10'000, .at_a_time = 3'000});
}
