// A server of sockets that were opened before it began: by systemd, which starts it for the first connection, and keeps the
// sockets while the server is restarted, so that no client is refused. The protocol is that of sd_listen_fds(3):
//
//   LISTEN_PID      the process that the sockets are meant for
//   LISTEN_FDS      how many there are: the fds 3, 4, ...
//   LISTEN_FDNAMES  their names, with colons between them (FileDescriptorName= of the unit)
//
//   systemd-socket-activate -l 127.0.0.1:7000 -l /run/echo.sock example_socket_activation
//   systemd-socket-activate --datagram -l 127.0.0.1:7000 example_socket_activation
//
// Without such sockets the server opens one itself: example_socket_activation 127.0.0.1:7000
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

struct passed_socket {
  int fd;
  std::string name;  // empty: none
};

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  const std::string_view digits = text ? text : "";
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : 0;
}

// Before main() starts threads: it changes the environment, so that no child takes the sockets for its own.
std::vector<passed_socket> take_passed_sockets() {
  constexpr int first_fd = 3;
  std::vector<passed_socket> sockets;
  if (number_in("LISTEN_PID") == ::getpid()) {
    const char* const names = std::getenv("LISTEN_FDNAMES");
    std::string_view rest = names ? names : "";
    for (int i = 0; i < number_in("LISTEN_FDS"); ++i) {
      const std::string_view name = rest.substr(0, rest.find(':'));
      sockets.push_back({first_fd + i, std::string(name)});
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
  }
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  return sockets;
}

task<result<void>> echo(tcp::stream peer) {
  std::array<char, 512> buffer;
  while (std::size_t n = co_await or_return(within(30s, peer.read_some(buffer))))
    co_await or_return(peer.write_all(std::span(buffer.data(), n)));
  co_return {};
}

task<result<void>> echo_datagrams(udp::socket socket) {
  std::array<char, 1500> buffer;
  for (;;) {
    const udp::received_datagram datagram = co_await or_return(socket.receive(buffer));
    if (datagram.sender.is_valid())
      static_cast<void>(co_await socket.send(std::span(buffer.data(), datagram.size), datagram.sender));
  }
}

task<shutdown_report> end_server(tcp::server& server) { co_return co_await server.graceful_shutdown({.drain = 1s}); }

int main(int argc, char** argv) {
  signal_set signals{SIGTERM};
  std::vector<tcp::listener> listeners;
  std::vector<udp::socket> datagram_sockets;
  for (const passed_socket& passed : take_passed_sockets()) {
    if (auto listener = tcp::listener::adopt(passed.fd)) {
      std::printf("%s: listens at %s\n", passed.name.c_str(), listener->local_address().to_string().c_str());
      listeners.push_back(std::move(*listener));
    } else if (auto socket = udp::socket::adopt(passed.fd)) {
      std::printf("%s: datagrams at %s\n", passed.name.c_str(), socket->local_address().to_string().c_str());
      datagram_sockets.push_back(std::move(*socket));
    } else {
      std::printf("%s: %s\n", passed.name.c_str(), listener.error().message().c_str());
      return 1;
    }
  }
  if (listeners.empty() && datagram_sockets.empty()) {
    listeners.push_back(tcp::listener::bind(argc > 1 ? argv[1] : "127.0.0.1:7000").value());
    std::printf("listens at %s\n", listeners.back().local_address().to_string().c_str());
  }
  std::fflush(stdout);

  runtime rt({.workers = 2});
  for (udp::socket& socket : datagram_sockets) static_cast<void>(spawn(rt, echo_datagrams, std::move(socket)));
  std::optional<tcp::server> server;
  if (!listeners.empty()) server.emplace(tcp::serve(rt, std::move(listeners), echo).value());
  const bool ends = sync_wait(signals.next()).has_value();
  if (server) sync_wait(spawn(rt, end_server, std::ref(*server)));
  return ends ? 0 : 1;
}
