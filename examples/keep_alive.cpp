// Answers each request with "200 OK" on a connection that is kept: the server that libcoro's authors measure.
//
//   example_keep_alive 127.0.0.1:8080 &
//   wrk -t4 -c200 -d30s http://127.0.0.1:8080/
//
// It does not parse requests: what one read gives counts as one. The bytes lie in memory that is lent while there are
// any, so a connection that is kept and idle has no buffer.
#include <hocket/stackless.hpp>
#include <hocket/net.hpp>
#include <csignal>

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
  signal_set ends{SIGTERM};
  runtime rt;
  auto server = tcp::serve(rt, argc > 1 ? argv[1] : "127.0.0.1:8080", answer).value();
  server.run_until(ends, {.drain = 1s});
}
