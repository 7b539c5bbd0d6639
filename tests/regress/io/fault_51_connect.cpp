// FAULTS 51: connects that fail: refused, in great number, unreachable, without a path, at full queues; and a peer that
// forgets the connection. Time-outs at a full backlog: suites/tcp.hpp.
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/held_port.hpp"
#include "support/loopback.hpp"
#include "support/tcp_pair.hpp"
#include "support/temporary_folder.hpp"
#include "support/waits.hpp"

#include <array>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<std::error_code> error_of_connect(socket_address to) {
  const auto peer = co_await tcp::connect(to);
  co_return peer ? std::error_code() : peer.error();
}

}  // namespace

TEST_CASE("hundreds of connects are refused at the same time, and leave nothing open (fault 51)") {
  const held_port refusing;
  runtime rt({.workers = 2});
  CHECK(sync_wait(spawn(rt, error_of_connect, refusing.address())) == std::errc::connection_refused);
  const std::size_t before = open_numbers();
  std::vector<join_handle<std::error_code>> all;
  for (int i = 0; i < 300; ++i) all.push_back(spawn(rt, error_of_connect, refusing.address()));
  int refused = 0;
  for (auto& one : all) refused += sync_wait(one) == std::errc::connection_refused ? 1 : 0;
  CHECK(refused == 300);
  CHECK(open_numbers() <= before + 2);  // a worker that had not waited before has an epoll now
}

// The system refuses TCP to a broadcast address before it sends anything.
TEST_CASE("what cannot be reached is an error of connect (fault 51)") {
  CHECK(sync_wait(error_of_connect("255.255.255.255:9")) != std::error_code());
  temporary_folder folder;
  const std::string path = "unix:" + (folder / "socket");
  CHECK(sync_wait(error_of_connect(path)) == std::errc::no_such_file_or_directory);
  {
    auto door = tcp::listener::bind(path).value();
  }
  CHECK(sync_wait(error_of_connect(path)) == std::errc::connection_refused);
  CHECK(tcp::listener::bind(path).error() == std::errc::address_in_use);
  CHECK(sync_wait(error_of_connect({})) == std::errc::invalid_argument);
}

TEST_CASE("a connect to a unix socket with a full queue waits for room, up to its deadline (fault 51)") {
  auto door = tcp::listener::bind(own_unix_address("fault-51"), {.backlog = 0}).value();
  std::vector<tcp::stream> all;
  std::error_code full;
  while (!full) {
    auto peer = sync_wait(within(5ms, tcp::connect(door.local_address())));
    if (peer) all.push_back(std::move(*peer));
    else full = peer.error();
  }
  CHECK(full == errc::deadline_exceeded);
  static_cast<void>(sync_wait(door.accept()).value());
  CHECK(sync_wait(tcp::connect(door.local_address())).has_value());
}

// A connect is ended at every stage of its handshake: it leaves no descriptor, whoever is first.
TEST_CASE("connects that are cancelled beside their success leave nothing open (fault 51)") {
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  runtime rt({.workers = 2});
  CHECK_FALSE(sync_wait(spawn(rt, error_of_connect, door.local_address())));
  static_cast<void>(sync_wait(door.accept()).value());
  CHECK_FALSE(sync_wait(within(0ms, door.accept())).has_value());
  const held_port refusing;
  for (int i = 0; i < 4; ++i) CHECK(sync_wait(spawn(rt, error_of_connect, refusing.address())));
  const std::size_t before = open_numbers();
  for (int i = 0; i < 300; ++i) {
    auto one = spawn(rt, error_of_connect, door.local_address());
    if (i % 2 == 0) one.cancel();
    else one.kill();
    while (!one.done()) std::this_thread::yield();
    while (door.try_accept()) {
    }
  }
  CHECK(open_numbers() <= before + 2);
}

// A socket that is closed in repair mode tells its peer nothing.
TEST_CASE("a peer that has forgotten the connection answers a write by a reset (fault 51)") {
  tcp_pair tcp = make_tcp_pair();
  const int on = 1;
  if (::setsockopt(tcp.far.native_handle(), IPPROTO_TCP, TCP_REPAIR, &on, sizeof on) != 0)
    return;  // takes a capability
  tcp.far.close();
  std::array<char, 8> buffer;
  CHECK(sync_wait(within(1ms, tcp.near.read_some(buffer))).error() == std::errc::timed_out);
  CHECK(sync_wait(tcp.near.write_all("x")).has_value());
  CHECK(sync_wait(tcp.near.read_some(buffer)).error() == std::errc::connection_reset);
  CHECK(sync_wait(tcp.near.write_all("x")).error() == std::errc::broken_pipe);
}
