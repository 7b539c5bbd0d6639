// A port of the loopback without a listener. A socket that is bound to it holds it: the system gives it to no
// other program, connects are refused, and a listener with SO_REUSEADDR can be opened at it.
#pragma once
#include <hocket/io/unique_fd.hpp>
#include <hocket/net/address.hpp>

#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>

namespace hocket_test {

class held_port {
 public:
  held_port() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const any = reinterpret_cast<sockaddr*>(&at);
    if (::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(socket_.native_handle(), any, size) != 0 || ::getsockname(socket_.native_handle(), any, &size) != 0)
      throw std::runtime_error("no port can be held");
    address_ = hocket::socket_address("127.0.0.1:" + std::to_string(ntohs(at.sin_port)));
  }
  const hocket::socket_address& address() const noexcept { return address_; }

 private:
  hocket::unique_fd socket_;
  hocket::socket_address address_;
};

}  // namespace hocket_test
