// The address of a peer: a stream has it from accept(2) or connect(2), so it is known when the connection is gone, too.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/loopback.hpp"
#include "support/tcp_pair.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

std::vector<const char*> hosts() {
  std::vector<const char*> all{"127.0.0.1:0"};
  if (has_v6()) all.insert(all.end(), {"[::1]:0", "[::ffff:127.0.0.1]:0"});
  return all;
}

// Connects to the listener and resets the connection. The address that the client had.
socket_address reset_one(const socket_address& at) {
  auto peer = sync_wait(tcp::connect(at)).value();
  peer.set_reset_on_close(true).value();
  return peer.local_address();
}

std::string told_of;
void count_error(const socket_address& peer, std::error_code, const std::exception_ptr&) noexcept {
  told_of = peer.to_string();
}

task<result<void>> read_one(tcp::stream peer) {
  std::array<char, 1> byte{};
  auto returned = co_await peer.read_some(byte);
  if (!returned) co_return failure(returned.error());
  co_return {};
}

}  // namespace

TEST_CASE("a connection that was reset before it is accepted has the address of its peer") {
  for (const char* host : hosts()) {
    CAPTURE(host);
    auto listener = tcp::listener::bind(host).value();
    for (const bool waits : {true, false}) {
      const socket_address client = reset_one(listener.local_address());
      auto peer = waits ? sync_wait(listener.accept()) : listener.try_accept();
      REQUIRE(peer.has_value());
      std::array<char, 1> byte{};
      CHECK(sync_wait(peer->read_some(byte)).error_or({}) == std::errc::connection_reset);
      CHECK(peer->peer_address() == client);
    }
  }
}

TEST_CASE("a connection that is reset later has the address of its peer on both sides") {
  for (const char* host : hosts()) {
    CAPTURE(host);
    auto listener = tcp::listener::bind(host).value();
    auto near = sync_wait(tcp::connect(listener.local_address())).value();
    auto far = sync_wait(listener.accept()).value();
    const socket_address client = near.local_address();
    CHECK(near.peer_address() == listener.local_address());
    CHECK(far.peer_address() == client);
    far.set_reset_on_close(true).value();
    far.close();
    std::array<char, 1> byte{};
    CHECK(sync_wait(near.read_some(byte)).error_or({}) == std::errc::connection_reset);
    CHECK(near.peer_address() == listener.local_address());
    CHECK_FALSE(far.peer_address().is_valid());
  }
}

TEST_CASE("a server is told the address of a peer that has reset its connection") {
  for (const char* host : hosts()) {
    CAPTURE(host);
    loop lp;
    tcp::serve_options options;
    options.on_error = &count_error;
    auto server = tcp::serve(lp, host, options, &read_one).value();
    told_of.clear();
    const socket_address client = reset_one(server.local_address());
    while (told_of.empty()) lp.poll();
    CHECK(told_of == client.to_string());
  }
}

TEST_CASE("a connection to the unspecified address has the peer that the system has chosen") {
  auto listener = tcp::listener::bind("0.0.0.0:0").value();
  auto near = sync_wait(tcp::connect(listener.local_address())).value();
  CHECK(near.peer_address().port() == listener.local_address().port());
  CHECK(near.peer_address().is_loopback());
  if (!has_v6()) return;
  auto both = tcp::listener::bind("[::]:0").value();
  near = sync_wait(tcp::connect(both.local_address())).value();
  CHECK(near.peer_address() == socket_address::loopback_v6(both.local_address().port()));
}

// Descriptors are used again, the one that was closed last first.
TEST_CASE("a descriptor in the place of a connection does not have its peer's address") {
  for (int i = 0; i < 3; ++i) {
    {
      const tcp_pair ended = make_tcp_pair();
      REQUIRE(ended.near.peer_address().is_valid());
    }
    auto ends = make_unix_pair().value();
    CHECK(ends.near.peer_address().is_unnamed());
    CHECK(ends.far.peer_address().is_unnamed());
    auto pipe = make_pipe().value();
    CHECK_FALSE(socket_stream(std::move(pipe.reader)).peer_address().is_valid());
  }
}

TEST_CASE("an adopted connection has the address that the system tells") {
  auto [near, far] = make_tcp_pair();
  const socket_address peer = near.peer_address();
  const tcp::stream adopted(descriptor::adopt(near.release().value()).value());
  CHECK(adopted.peer_address() == peer);
}
