// Addresses on this machine.
#pragma once
#include <hocket/net/address.hpp>

#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace hocket_test {

// Some machines have no IPv6.
inline bool has_v6() {
  const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const hocket::socket_address loopback("[::1]:0");
  const bool bound =
      ::bind(probe, static_cast<const sockaddr*>(loopback.data()), static_cast<socklen_t>(loopback.size())) == 0;
  ::close(probe);
  return bound;
}
// A unix address of this process alone.
inline std::string own_unix_address(std::string_view name) {
  return "unix:@hocket-" + std::string(name) + "-" + std::to_string(::getpid());
}
inline const char* loopback_v6_or_v4() { return has_v6() ? "[::1]:0" : "127.0.0.1:0"; }

}  // namespace hocket_test
