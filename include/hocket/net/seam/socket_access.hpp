// For networks other than the system's: makes listeners and sockets of descriptors.
#pragma once
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct socket_access {
  static tcp::listener listener_of(descriptor&& of) noexcept { return {std::move(of), false}; }
  static udp::socket datagram_socket_of(descriptor&& of) noexcept { return udp::socket(std::move(of)); }
};

}}}  // namespace hocket::detail
