#pragma once
// Sockets of the load, which connect to a server on 127.0.0.1.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "net/server.hpp"

namespace lab::net {

constexpr std::size_t source_addresses = 16;  // of the clients: each has all ports

inline sockaddr_in ipv4_address(std::uint32_t host, unsigned port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<unsigned short>(port));
  address.sin_addr.s_addr = htonl(host);
  return address;
}

// Bound to 127.0.0.1 and the next addresses in turn: no address runs out of ports.
inline int client_socket(int type, std::size_t source) {
  const int fd = checked(socket(AF_INET, type | SOCK_CLOEXEC, 0), "socket");
  const int on = 1;
  if ((type & SOCK_STREAM) != 0) checked(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
  checked(setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on), "IP_BIND_ADDRESS_NO_PORT");
  const sockaddr_in address = ipv4_address(INADDR_LOOPBACK + static_cast<std::uint32_t>(source % source_addresses), 0);
  checked(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  return fd;
}

inline void connect_to(int fd, unsigned port) {
  const sockaddr_in address = ipv4_address(INADDR_LOOPBACK, port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 && errno != EINPROGRESS)
    fail("connect");
}

}  // namespace lab::net
