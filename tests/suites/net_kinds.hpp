// What the suites of net open, at the wires of their kinds: the system's sockets here, and a network's in
// memory_kinds.hpp.
#pragma once
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>

#include "suites/io_kinds.hpp"

namespace hocket_test {

inline hocket::result<hocket::tcp::listener> listen(system_wires&, const hocket::socket_address& at,
                                                    const hocket::tcp::listen_options& options = {}) {
  return hocket::tcp::listener::bind(at, options);
}
inline auto connect(system_wires&, const hocket::socket_address& to) { return hocket::tcp::connect(to); }
inline hocket::result<hocket::udp::socket> bind_datagrams(system_wires&, const hocket::socket_address& at) {
  return hocket::udp::socket::bind(at);
}
inline hocket::result<hocket::udp::socket> connect_datagrams(system_wires&, const hocket::socket_address& to) {
  return hocket::udp::socket::connect(to);
}

}  // namespace hocket_test
