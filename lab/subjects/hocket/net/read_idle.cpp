// The server of the page `net` that has no buffer while a connection is idle, and a deadline for each connection: the
// subject of document 000, as hocket's documentation would write it. It answers each read, and parses nothing.
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>

#include <csignal>

#include "net/server.hpp"

using namespace hocket;
using namespace std::chrono_literals;

task<result<void>> answer(tcp::stream peer) {
  for (;;) {
    const borrowed_bytes request = co_await or_return(within(60s, peer.read_idle()));
    if (request.empty()) co_return {};  // the peer has closed
    co_await or_return(peer.write_all("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"));
  }
}

int main(int argc, char** argv) {
  const lab::net::orders orders = lab::net::parse(argc, argv);
  runtime rt({.workers = orders.workers});
  auto server = tcp::serve(rt, socket_address::loopback_v4(0), answer).value();
  lab::net::ready(server.local_address().port());
  server.run_until(SIGTERM);
}
