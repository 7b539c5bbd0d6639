// Datagram sockets with an address of their own and a peer, and datagrams of unix sockets.
#include <hocket/core/yield.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/loopback.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

#define HOCKET_IO_KINDS                                                                                        \
  hocket_test::io_tasks, hocket_test::io_fibers, hocket_test::io_runtime_tasks, hocket_test::io_workers_tasks, \
      hocket_test::io_workers_fibers, hocket_test::io_migrants

namespace {

std::string name_of(const char* operation) {
  return "unix:@hocket-" + std::string(operation) + std::to_string(::getpid());
}

std::string receive_text(udp::socket& at) {
  std::array<char, 32> buffer{};
  const auto returned = sync_wait(within(1min, at.receive(buffer))).value();
  return {buffer.data(), returned.size};
}

}  // namespace

TEST_CASE("a socket for datagrams is bound and has a peer") {
  for (const char* host : {"127.0.0.1:0", loopback_v6_or_v4()}) {
    auto server = udp::socket::bind(host).value(), other = udp::socket::bind(host).value();
    const socket_address own = udp::socket::bind(host).value().local_address();
    auto client = udp::socket::connect(server.local_address(), {.local_address = own}).value();
    CHECK(client.local_address() == own);
    CHECK(client.peer_address() == server.local_address());
    CHECK(sync_wait(other.send("of another", own)).has_value());
    CHECK(sync_wait(server.send("of the peer", own)).has_value());
    CHECK(receive_text(client) == "of the peer");
    CHECK(udp::socket::connect(server.local_address(), {.local_address = own}).error() == std::errc::address_in_use);
    auto chosen = udp::socket::connect(server.local_address(), {.local_address = socket_address(host)}).value();
    CHECK(chosen.local_address().with_port(0) == socket_address(host));
    CHECK(chosen.local_address().port() != 0);
  }
  CHECK(udp::socket::connect("127.0.0.1:9", {.local_address = "192.0.2.1:0"}).error() ==
        std::errc::address_not_available);
  CHECK(udp::socket::connect("nowhere").error() == std::errc::invalid_argument);
}

TEST_CASE("sockets with one address each hear their own peer") {
  auto first = udp::socket::bind("127.0.0.1:0").value(), second = udp::socket::bind("127.0.0.1:0").value();
  const socket_address own = udp::socket::bind("127.0.0.1:0").value().local_address();
  const udp::connect_options options{.local_address = own, .reuse_port = true};
  auto to_first = udp::socket::connect(first.local_address(), options).value();
  auto to_second = udp::socket::connect(second.local_address(), options).value();
  for (int i = 0; i < 3; ++i) {
    CHECK(sync_wait(second.send("second", own)).has_value());
    CHECK(sync_wait(first.send("first", own)).has_value());
    CHECK(receive_text(to_first) == "first");
    CHECK(receive_text(to_second) == "second");
  }
}

TEST_CASE("datagrams of unix sockets have their sender's name, if it has one") {
  const temporary_folder folder;
  for (const std::string& base : {name_of("names-"), "unix:" + (folder / "socket")}) {
    CAPTURE(base);
    auto server = udp::socket::bind(base).value();
    auto named = udp::socket::connect(base, {.local_address = socket_address(base + "-client")}).value();
    auto nameless = udp::socket::connect(base).value();
    std::array<char, 8> buffer{};
    CHECK(sync_wait(named.send("named")).has_value());
    const udp::received_datagram returned = sync_wait(server.receive(buffer)).value();
    CHECK(returned.sender == socket_address(base + "-client"));
    CHECK(sync_wait(server.send("answer", returned.sender)).has_value());
    CHECK(receive_text(named) == "answer");
    CHECK(sync_wait(nameless.send("")).has_value());
    const udp::received_datagram empty = sync_wait(server.receive(buffer)).value();
    CHECK(empty.size == 0);
    CHECK_FALSE(empty.sender.is_valid());
    CHECK(sync_wait(nameless.send("longer than eight")).has_value());
    CHECK(sync_wait(server.receive(buffer)).value().truncated);
  }
  auto any = udp::socket::bind(name_of("any-")).value();
  CHECK(sync_wait(any.send("x", name_of("nobody-"))).error_or({}) == std::errc::connection_refused);
  CHECK(sync_wait(any.send("x", "unix:" + (folder / "nobody"))).error_or({}) == std::errc::no_such_file_or_directory);
}

// Of a socket with the receiver as its peer, of one without a peer, one by one and in batches.
TEST_CASE_TEMPLATE("a send to a unix socket whose queue is full waits, and no datagram is lost", Kind,
                   HOCKET_IO_KINDS) {
  constexpr int count = 200;
  for (const bool has_peer : {false, true}) {
    for (const bool in_batches : {false, true}) {
      CAPTURE(has_peer);
      CAPTURE(in_batches);
      const std::string name = name_of("full-");
      auto receiver = udp::socket::bind(name).value();
      auto sender = has_peer ? udp::socket::connect(name).value() : udp::socket::bind(name_of("sender-")).value();
      const socket_address to = has_peer ? socket_address() : socket_address(name);
      Kind world;
      auto send = [&]() -> typename Kind::body {
        std::vector<std::string> words;
        for (int i = 0; i < count; ++i) words.push_back(std::to_string(i));
        for (std::size_t sent = 0; sent != words.size();) {
          if (!in_batches) {
            auto current = co_await sender.send(words[sent], to);
            REQUIRE(current == words[sent].size());
            ++sent;
            continue;
          }
          std::vector<udp::datagram> batch;
          for (std::size_t i = sent; i != words.size(); ++i) batch.emplace_back(const_buffer(words[i]), to);
          auto some = co_await sender.send_batch(batch);
          REQUIRE(some.has_value());
          sent += *some;
        }
      };
      auto receive = [&]() -> typename Kind::body {
        std::array<char, 8> buffer{};
        for (int i = 0; i < count; ++i) {
          auto returned = co_await receiver.receive(buffer);
          REQUIRE(returned.has_value());
          CHECK(std::string(buffer.data(), returned->size) == std::to_string(i));
          co_await yield();
        }
      };
      const int sends = world.start(send);
      world.start(receive);
      world.finish();
      CHECK(world.ended(sends) == fate::ended);
    }
  }
}

TEST_CASE("a send that waits for a full queue is timed out, ended by a close, and does not hold up another receiver") {
  const std::string full_name = name_of("stuck-"), free_name = name_of("free-");
  auto full = udp::socket::bind(full_name).value(), free = udp::socket::bind(free_name).value();
  auto sender = udp::socket::bind(name_of("both-")).value();
  while (sync_wait(within(0ms, sender.send("fill", full_name)))) {
  }
  for (int i = 0; i < 3; ++i) {
    CHECK(sync_wait(within(3ms, sender.send("late", full_name))).error_or({}) == std::errc::timed_out);
    CHECK(sync_wait(within(1min, sender.send("free", free_name))) == std::size_t{4});
    CHECK(receive_text(free) == "free");
  }
  loop lp;
  auto stuck = spawn(
      lp, [](udp::socket& by, std::string to) -> task<result<std::size_t>> { co_return co_await by.send("stuck", to); },
      std::ref(sender), full_name);
  lp.poll();
  sender.close();
  lp.run_until(stuck);
  CHECK(sync_wait(stuck).error_or({}) == std::errc::operation_canceled);
}
