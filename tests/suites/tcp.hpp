// Connections, for every kind that waits for I/O: TCP on loopback, and networks in memory.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/time/within.hpp>

#include "suites/net_kinds.hpp"
#include "support/loopback.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <string_view>

namespace hocket_test {

using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("connections are made, used in both directions, and know their addresses", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  for (const std::string& address :
       {std::string("127.0.0.1:0"), std::string(loopback_v6_or_v4()), own_unix_address("tcp-suite")}) {
    hocket::tcp::listener door = listen(net, address).value();
    const hocket::socket_address at = door.local_address();
    Kind world(net);
    auto serve = [&]() -> typename Kind::body {
      auto peer = co_await door.accept();
      REQUIRE(peer.has_value());
      CHECK(peer->local_address() == at);
      std::array<char, 4> buffer;
      auto returned = co_await peer->read_exactly(buffer);
      REQUIRE(returned.has_value());
      CHECK(std::string_view(buffer.data(), 4) == "ping");
      auto sent = co_await peer->write_all("pong");
      CHECK(sent.has_value());
    };
    auto call = [&]() -> typename Kind::body {
      auto peer = co_await connect(net, at);
      REQUIRE(peer.has_value());
      CHECK(peer->peer_address() == at);
      auto sent = co_await peer->write_all("ping");
      CHECK(sent.has_value());
      CHECK(peer->shutdown_write().has_value());
      std::array<char, 8> buffer;
      auto returned = co_await peer->read_exactly(std::span(buffer).first(4));
      REQUIRE(returned.has_value());
      CHECK(std::string_view(buffer.data(), 4) == "pong");
      returned = co_await peer->read_some(buffer);
      CHECK(returned == std::size_t{0});
    };
    const int server = world.start(serve);
    const int client = world.start(call);
    world.finish();
    CHECK(world.ended(server) == fate::ended);
    CHECK(world.ended(client) == fate::ended);
  }
}

TEST_CASE_TEMPLATE("a refused connection, a malformed address and an address in use are errors", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  hocket::tcp::listener door = listen(net, "127.0.0.1:0").value();
  const hocket::socket_address at = door.local_address();
  auto second = listen(net, at);
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error() == std::errc::address_in_use);
  CHECK(listen(net, "nowhere").error() == std::errc::invalid_argument);
  door.close();
  Kind world(net);
  auto call = [&]() -> typename Kind::body {
    auto peer = co_await connect(net, at);
    REQUIRE_FALSE(peer.has_value());
    CHECK(peer.error() == std::errc::connection_refused);
    auto nowhere = co_await connect(net, "127.0.0.1:99999");
    REQUIRE_FALSE(nowhere.has_value());
    CHECK(nowhere.error() == std::errc::invalid_argument);
  };
  const int client = world.start(call);
  world.finish();
  CHECK(world.ended(client) == fate::ended);
}

// The queue of the listener is full, so the handshake does not end (fault 51).
TEST_CASE_TEMPLATE("a connect that times out leaves nothing behind (fault 51)", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  hocket::tcp::listener door = listen(net, "127.0.0.1:0", {.backlog = 0}).value();
  Kind world(net);
  auto call = [&]() -> typename Kind::body {
    std::vector<hocket::tcp::stream> others;
    for (bool full = false; !full;) {
      auto peer = co_await hocket::within(20ms, connect(net, door.local_address()));
      full = !peer.has_value();
      if (full) CHECK(peer.error() == std::errc::timed_out);
      else others.push_back(std::move(*peer));
    }
  };
  const int client = world.start(call);
  world.finish();
  CHECK(world.ended(client) == fate::ended);
}

TEST_CASE_TEMPLATE("several accept at one listener", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  constexpr int connections = 12;
  hocket::tcp::listener door = listen(net, "127.0.0.1:0").value();
  Kind world(net);
  std::atomic<int> accepted{0};
  auto accept = [&]() -> typename Kind::body {
    auto peer = co_await door.accept();
    REQUIRE(peer.has_value());
    ++accepted;
  };
  auto call = [&]() -> typename Kind::body {
    auto peer = co_await connect(net, door.local_address());
    CHECK(peer.has_value());
  };
  for (int i = 0; i < connections; ++i) world.start(accept);
  for (int i = 0; i < connections; ++i) world.start(call);
  world.finish();
  CHECK(accepted == connections);
}

TEST_CASE_TEMPLATE("the end of a peer is told apart, and one's own shutdown ends no wait for it", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  hocket::tcp::listener door = listen(net, "127.0.0.1:0").value();
  Kind world(net);
  auto serve = [&]() -> typename Kind::body {
    auto peer = co_await door.accept();
    REQUIRE(peer.has_value());
    std::array<char, 1> byte{};
    auto reported = co_await peer->read_exactly(byte);
    CHECK(reported.has_value());
    CHECK(peer->shutdown_write().has_value());
    auto end = co_await peer->closed();
    CHECK(end == hocket::peer_end::closed);
  };
  auto call = [&]() -> typename Kind::body {
    auto peer = co_await connect(net, door.local_address());
    REQUIRE(peer.has_value());
    CHECK(peer->shutdown_read().has_value());
    auto end = co_await hocket::within(1ms, peer->closed());
    CHECK(end.error_or({}) == std::errc::timed_out);
    auto reported = co_await peer->write_all("x");
    CHECK(reported.has_value());
    end = co_await peer->closed();
    CHECK(end == hocket::peer_end::half_closed);
    CHECK(peer->shutdown_write().has_value());
    end = co_await peer->closed();
    CHECK(end == hocket::peer_end::closed);
  };
  const int server = world.start(serve);
  const int client = world.start(call);
  world.finish();
  CHECK(world.ended(server) == fate::ended);
  CHECK(world.ended(client) == fate::ended);
}

TEST_CASE_TEMPLATE("a peek leaves the bytes to the next read, waits for the first, and tells the end and a reset", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  hocket::tcp::listener door = listen(net, "127.0.0.1:0").value();
  Kind world(net);
  auto serve = [&]() -> typename Kind::body {
    for (const bool resets : {false, true}) {
      auto peer = co_await door.accept();
      REQUIRE(peer.has_value());
      auto sent = co_await peer->write_all("words");
      CHECK(sent.has_value());
      std::array<char, 1> byte{};
      auto reported = co_await peer->read_exactly(byte);
      CHECK(reported.has_value());
      if (resets) CHECK(peer->set_reset_on_close(true).has_value());
    }
  };
  auto call = [&]() -> typename Kind::body {
    for (const bool resets : {false, true}) {
      auto peer = co_await connect(net, door.local_address());
      REQUIRE(peer.has_value());
      std::array<char, 16> buffer{};
      auto returned = co_await peer->peek(std::span(buffer).first(2));
      CHECK(returned == std::size_t{2});
      CHECK(std::string_view(buffer.data(), 2) == "wo");
      for (std::size_t size = 0; size != 5;) {
        auto some = co_await peer->peek(buffer);
        REQUIRE(some.has_value());
        size = *some;
      }
      returned = co_await peer->read_exactly(std::span(buffer).first(5));
      CHECK(returned == std::size_t{5});
      CHECK(std::string_view(buffer.data(), 5) == "words");
      auto none = co_await hocket::within(1ms, peer->peek(buffer));
      CHECK(none.error_or({}) == std::errc::timed_out);
      auto empty = co_await peer->peek({});
      CHECK(empty == std::size_t{0});
      auto reported = co_await peer->write_all("x");
      CHECK(reported.has_value());
      auto end = co_await peer->peek(buffer);
      if (resets) CHECK(end.error_or({}) == std::errc::connection_reset);
      else CHECK(end == std::size_t{0});
      peer->close();
      end = co_await peer->peek(buffer);
      CHECK(end.error_or({}) == std::errc::bad_file_descriptor);
    }
  };
  const int server = world.start(serve);
  const int client = world.start(call);
  world.finish();
  CHECK(world.ended(server) == fate::ended);
  CHECK(world.ended(client) == fate::ended);
}

// fault 44: SIGPIPE has its default action here.
TEST_CASE_TEMPLATE("a connection that the peer has reset is an error in both directions (fault 44)", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  hocket::tcp::listener door = listen(net, "127.0.0.1:0").value();
  Kind world(net);
  auto reset = [&]() -> typename Kind::body {
    auto peer = co_await door.accept();
    REQUIRE(peer.has_value());
    std::array<char, 1> byte;  // the client knows by now that it is connected
    auto reported = co_await peer->read_exactly(byte);
    CHECK(reported.has_value());
    CHECK(peer->set_reset_on_close(true).has_value());
  };
  auto call = [&]() -> typename Kind::body {
    auto peer = co_await connect(net, door.local_address());
    REQUIRE(peer.has_value());
    auto reported = co_await peer->write_all("x");
    CHECK(reported.has_value());
    std::array<char, 4> buffer;
    auto returned = co_await peer->read_some(buffer);
    REQUIRE_FALSE(returned.has_value());
    CHECK(returned.error() == std::errc::connection_reset);
    auto sent = co_await peer->write_all("late");
    REQUIRE_FALSE(sent.has_value());
    CHECK(sent.error() == std::errc::broken_pipe);
  };
  world.start(reset);
  const int client = world.start(call);
  world.finish();
  CHECK(world.ended(client) == fate::ended);
}

}  // namespace hocket_test
