// The reply to peers over the limit, over sockets: it arrives, also at a peer that has sent a request before.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/net/serve.hpp>

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <thread>

using namespace hocket;
using namespace std::chrono_literals;

TEST_CASE("the reply to a peer over the limit arrives, whatever the peer has sent") {
  hocket::runtime rt({.workers = 2});
  auto handler = [](tcp::stream peer) -> task<> {
    std::array<char, 16> buffer;
    while (auto n = co_await peer.read_some(buffer)) {
      if (*n == 0) break;
    }
  };
  auto server = tcp::serve(rt, "127.0.0.1:0", {.max_connections = 1, .overload_reply = "busy\n"}, handler).value();
  const socket_address address = server.local_address();
  auto call = [&]() -> task<result<std::string>> {
    auto peer = (co_await tcp::connect(address)).value();
    const std::string request(10'000, 'r');
    static_cast<void>(co_await peer.write_all(request));
    co_return co_await read_all(peer);
  };
  auto first = [&]() -> task<tcp::stream> { co_return (co_await tcp::connect(address)).value(); };
  auto served = sync_wait(spawn(rt, std::ref(first)));
  while (server.counts().accepted == 0) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    auto reply = sync_wait(spawn(rt, std::ref(call)));
    REQUIRE(reply.has_value());
    CHECK(*reply == "busy\n");
  }
  CHECK(server.counts().refused == 20);
  served.close();
  sync_wait(spawn(rt, &tcp::server::graceful_shutdown, &server, shutdown_options{.drain = 1min}));
  CHECK(server.connections() == 0);
}
