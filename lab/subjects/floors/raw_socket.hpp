#pragma once
// Sockets of the floors: the system calls, and nothing around them.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/server.hpp"

namespace lab::net {

// A socket bound to 127.0.0.1. Several sockets may share a port, if it is not 0. A TCP socket listens.
inline int bound_socket(int type, unsigned port) {
  const int fd = checked(socket(AF_INET, type | SOCK_CLOEXEC, 0), "socket");
  const int on = 1;
  checked(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), "SO_REUSEPORT");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<unsigned short>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  checked(bind(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), "bind");
  if ((type & SOCK_STREAM) != 0) checked(listen(fd, 4096), "listen");
  return fd;
}

inline unsigned port_of(int fd) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  checked(getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
  return ntohs(at.sin_port);
}

inline void send_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace lab::net
