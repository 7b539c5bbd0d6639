// For networks other than the system's: makes listeners and sockets from descriptors.
#pragma once
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct socket_access {
  static tcp::listener listener_of(descriptor&& owner) noexcept { return {std::move(owner), false}; }
  static udp::socket datagram_socket_of(descriptor&& owner) noexcept { return udp::socket(std::move(owner)); }
};

}}}  // namespace hocket::detail
