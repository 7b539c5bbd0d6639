#include <hocket/net/detail/socket_operations.hpp>
#include <hocket/net/udp.hpp>

#include "net/socket_calls.hpp"

#include <netinet/in.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

void datagram_access::prepare_receive(std::span<udp::datagram> datagrams) noexcept {
  for (udp::datagram& datagram : datagrams) {
    datagram.raw_.size = datagram.capacity_;
    datagram.raw_.moved = 0;
    datagram.raw_.address = datagram.address_.bytes_.data();
    datagram.raw_.address_size = datagram.address_.bytes_.size();
  }
}

void datagram_access::prepare_send(std::span<udp::datagram> datagrams) noexcept {
  for (udp::datagram& datagram : datagrams) {
    datagram.raw_.moved = 0;
    datagram.raw_.address = datagram.address_.is_valid() ? datagram.address_.bytes_.data() : nullptr;
    datagram.raw_.address_size = datagram.address_.size();
  }
}

void datagram_access::take_received(std::span<udp::datagram> datagrams) noexcept {
  for (udp::datagram& datagram : datagrams)
    datagram.address_ = socket_address(datagram.address_.data(), datagram.raw_.address_size);
}

}  // namespace detail

namespace udp {

namespace {

result<void> prepare(int fd, const socket_address& address, const socket_options& options) noexcept {
  result<void> set;
  if (options.reuse_port) set = set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (set && options.broadcast) set = set_option(fd, SOL_SOCKET, SO_BROADCAST, 1);
  if (set && address.kind() == socket_address::family::v6)
    set = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, static_cast<int>(options.v6_only));
  return set;
}

using address_call = int (*)(int, const sockaddr*, socklen_t);

result<void> call_with(address_call call, int fd, const socket_address& address) noexcept {
  return call_result(call(fd, static_cast<const sockaddr*>(address.data()), static_cast<socklen_t>(address.size())));
}

result<void> bind_and_connect(int fd, const socket_address& from, const socket_address& to) noexcept {
  if (from.is_unnamed()) return failure_of_transfer(EINVAL);
  result<void> called;
  if (from.is_valid()) called = call_with(&::bind, fd, from);
  if (called && to.is_valid()) called = call_with(&::connect, fd, to);
  return called;
}

// Opens a socket. At least one of the addresses is valid.
result<descriptor> open(const socket_address& from, const socket_address& to, const socket_options& options) noexcept {
  const socket_address& address = to.is_valid() ? to : from;
  const int fd = new_socket(address, SOCK_DGRAM);
  if (fd < 0) return failure_of_transfer(-fd);
  result<void> prepared = prepare(fd, address, options);
  if (prepared) prepared = bind_and_connect(fd, from, to);
  result<descriptor> socket = prepared ? descriptor_access::take_over(fd, descriptor_kind::socket)
                                       : result<descriptor>(failure(prepared.error()));
  if (!socket) close_fd(fd);
  return socket;
}

}  // namespace

result<socket> socket::bind(const socket_address& address, const socket_options& options) noexcept {
  result<descriptor> opened = open(address, {}, options);
  if (!opened) return failure(opened.error());
  return socket(std::move(*opened));
}

result<socket> socket::connect(const socket_address& address, const connect_options& options) noexcept {
  if (!address.is_valid()) return failure_of_transfer(EINVAL);
  const socket_options bind_options{.reuse_port = options.reuse_port, .broadcast = options.broadcast};
  result<descriptor> opened = open(options.local_address, address, bind_options);
  if (!opened) return failure(opened.error());
  return socket(std::move(*opened));
}

result<socket> socket::adopt(int fd) noexcept {
  result<descriptor> opened = adopt_socket(fd, SOCK_DGRAM);
  if (!opened) return failure(opened.error());
  return socket(std::move(*opened));
}

socket_address socket::local_address() const noexcept { return address_of(*this, socket_side::local); }
socket_address socket::peer_address() const noexcept { return address_of(*this, socket_side::peer); }

}  // namespace udp

}}  // namespace hocket
