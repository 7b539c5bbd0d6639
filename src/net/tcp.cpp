#include <hocket/net/tcp.hpp>

#include "net/socket_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

// After this call the destructor does not wait for the peer.
int graceful_close_operation::shut_down_writing() noexcept {
  const used_fd fd(side->record(), generation);
  if (!fd.is_open()) return EBADF;
  fd.record().record_end(stream_end::read);
  return fd.record().system().shut_down(fd.record(), SHUT_WR);
}

result<void> graceful_close_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(error);
  const used_fd fd(side->record(), generation);
  if (fd.is_open()) fd.record().close();
  return {};
}

}  // namespace detail

namespace {

int bounded(std::size_t bytes) noexcept { return static_cast<int>(std::min<std::size_t>(bytes, INT_MAX)); }

result<void> shut_down(const descriptor& socket, int directions) noexcept {
  return call_backend(socket, [&](backend& sockets, open_descriptor& record) noexcept {
    return sockets.shut_down(record, directions);
  });
}

}  // namespace

// --- socket_stream

result<void> socket_stream::shutdown_write() noexcept { return shut_down(*this, SHUT_WR); }
result<void> socket_stream::shutdown_read() noexcept { return shut_down(*this, SHUT_RD); }
socket_address socket_stream::local_address() const noexcept { return address_of(*this, socket_side::local); }
socket_address socket_stream::peer_address() const noexcept { return address_of(*this, socket_side::peer); }

namespace tcp {

// --- stream

result<void> stream::set_no_delay(bool on) noexcept {
  return set_option(*this, IPPROTO_TCP, TCP_NODELAY, static_cast<int>(on));
}

result<void> stream::set_keep_alive(const keep_alive& options) noexcept {
  const auto seconds = [](std::chrono::seconds time) {
    return static_cast<int>(std::clamp<std::chrono::seconds::rep>(time.count(), 1, 32767));
  };
  const int probes = std::clamp(options.probes, 1, 127);
  result<void> set = set_option(*this, IPPROTO_TCP, TCP_KEEPIDLE, seconds(options.idle));
  if (set) set = set_option(*this, IPPROTO_TCP, TCP_KEEPINTVL, seconds(options.interval));
  if (set) set = set_option(*this, IPPROTO_TCP, TCP_KEEPCNT, probes);
  return set ? set_option(*this, SOL_SOCKET, SO_KEEPALIVE, 1) : set;
}

result<void> stream::set_reset_on_close(bool on) noexcept {
  linger option{};
  option.l_onoff = on;
  const result<void> set = set_option(*this, SOL_SOCKET, SO_LINGER, option);
  if (set && on) record().record_end(stream_end::read);  // a destroyed stream is reset, and does not linger
  return set;
}

result<void> stream::set_receive_buffer(std::size_t bytes) noexcept {
  return set_option(*this, SOL_SOCKET, SO_RCVBUF, bounded(bytes));
}
result<void> stream::set_send_buffer(std::size_t bytes) noexcept {
  return set_option(*this, SOL_SOCKET, SO_SNDBUF, bounded(bytes));
}

// --- listener

namespace {

result<void> prepare(int fd, const socket_address& local, const listen_options& options) noexcept {
  const auto family = local.kind();
  if (family == socket_address::family::unix_path) return {};
  result<void> set = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (set && options.reuse_port) set = set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (set && options.no_delay) set = set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);  // accepted sockets inherit it
  if (set && family == socket_address::family::v6)
    set = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, static_cast<int>(options.v6_only));
  return set;
}

}  // namespace

result<listener> listener::bind(const socket_address& address, const listen_options& options) noexcept {
  const int fd = new_socket(address, SOCK_STREAM);
  if (fd < 0) return failure_of_transfer(-fd);
  result<void> prepared = prepare(fd, address, options);
  if (prepared)
    prepared =
        call_result(::bind(fd, static_cast<const sockaddr*>(address.data()), static_cast<socklen_t>(address.size())));
  if (prepared) prepared = call_result(::listen(fd, options.backlog));
  result<descriptor> socket =
      prepared ? take_over(fd, descriptor_kind::socket) : result<descriptor>(failure(prepared.error()));
  if (!socket) {
    close_fd(fd);
    return failure(socket.error());
  }
  return listener(std::move(*socket), address.kind() != socket_address::family::unix_path);
}

result<listener> listener::adopt(int fd) noexcept {
  const std::optional<int> is_listening = option_of(fd, SO_ACCEPTCONN);
  if (!is_listening) return failure_of_transfer(errno);
  if (*is_listening == 0) return failure_of_transfer(EINVAL);
  result<descriptor> socket = adopt_socket(fd, SOCK_STREAM);
  if (!socket) return failure(socket.error());
  const bool is_tcp = option_of(fd, SO_PROTOCOL).value_or(0) == IPPROTO_TCP;
  return listener(std::move(*socket), is_tcp);
}

result<stream> listener::try_accept() noexcept {
  const used_fd fd(*this);
  if (!fd.is_open()) return failure_of_transfer(EBADF);
  accept_operation<stream> accept(fd.record(), is_tcp_);
  if (fd.record().carry_out(accept) == call_end::blocks) return failure_of_transfer(EAGAIN);
  return accept.take();
}

socket_address listener::local_address() const noexcept { return address_of(*this, socket_side::local); }

}  // namespace tcp

}}  // namespace hocket
