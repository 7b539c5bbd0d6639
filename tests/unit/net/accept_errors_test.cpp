// A server goes on after an error of accept that tells of no lack, but not at once: the error may stay.
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>

#include <arpa/inet.h>
#include <cstdint>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

int messages = 0;
void count_message(const char*) noexcept { ++messages; }

task<> leave(tcp::stream) { co_return; }

// Others have stopped the socket, and then it listens again, at another port.
std::string listen_again(int number) {
  REQUIRE(::listen(number, 8) == 0);
  sockaddr_in at{};
  socklen_t size = sizeof at;
  REQUIRE(::getsockname(number, reinterpret_cast<sockaddr*>(&at), &size) == 0);
  return "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
}

}  // namespace

// By order: the sleep begins before the error, and is shorter than the pause.
TEST_CASE("a server tries to accept again 100 ms after an error of its socket") {
  messages = 0;
  const auto handler = set_log_handler(&count_message);
  loop lp;
  std::vector<tcp::listener> listeners;
  listeners.push_back(tcp::listener::bind("127.0.0.1:0").value());
  const int number = listeners[0].native_handle();
  auto server = tcp::serve(lp, std::move(listeners), leave).value();
  for (int i = 0; i < 10; ++i) lp.poll();  // the acceptor waits
  std::uint64_t accepted = 1;
  const auto sleep = [&]() -> task<> {
    static_cast<void>(co_await sleep_for(90ms));
    accepted = server.counts().accepted;
  };
  auto slept = spawn(lp, sleep);
  lp.poll();
  REQUIRE(::shutdown(number, SHUT_RD) == 0);
  while (messages == 0) lp.poll();
  const auto peer = sync_wait(tcp::connect(listen_again(number)));
  REQUIRE(peer.has_value());
  lp.run_until(slept);
  CHECK(accepted == 0);
  while (server.counts().accepted == 0) lp.run_for(1ms);
  CHECK(messages == 1);
  set_log_handler(handler);
}
