// TCP: connections and listeners.
//
//   auto peer = co_await or_return(within(3s, tcp::connect("127.0.0.1:80")));
//   co_await or_return(peer.write_all("GET / HTTP/1.0\r\n\r\n"));
//
//   auto listener = tcp::listener::bind("[::]:8080").value();
//   for (;;) spawn(serve_peer, co_await or_return(listener.accept()));
//
// For a server with all workers, limits and an orderly shutdown see net/serve.hpp; for waits, io/descriptor.hpp.
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/net/detail/socket_operations.hpp>
#include <hocket/net/socket_stream.hpp>
#include <chrono>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
struct socket_access;
}  // namespace detail

}}  // namespace hocket

namespace hocket { inline namespace HOCKET_ABI { namespace tcp {

// Options for probes that detect a dead connection: after `idle` without traffic one probe each `interval`, at most
// `probes`. In whole seconds, at least one.
struct keep_alive {
  std::chrono::seconds idle{60};
  std::chrono::seconds interval{10};
  int probes = 6;
};
static_assert(detail::owns_nothing<keep_alive>);

// A connection over TCP or a unix socket.
class stream : public socket_stream {
 public:
  stream() noexcept = default;
  // Takes ownership of the descriptor of a connected socket.
  explicit stream(descriptor&& owner) noexcept : socket_stream(std::move(owner)) {}

  // Sends small writes at once (TCP_NODELAY). On, unless the options disable it.
  result<void> set_no_delay(bool on) noexcept;
  result<void> set_keep_alive(const keep_alive& options) noexcept;
  // Lets close() reset the connection: unsent bytes are lost, the peer reads connection_reset, and no socket remains in
  // TIME_WAIT.
  result<void> set_reset_on_close(bool on) noexcept;
  // Set the kernel's buffers, in bytes. The kernel doubles the size and bounds it.
  result<void> set_receive_buffer(std::size_t bytes) noexcept;
  result<void> set_send_buffer(std::size_t bytes) noexcept;
};

// Options for connect.
struct connect_options {
  // An invalid address: any. With port 0 the system chooses the port when it knows the destination.
  socket_address local_address{};
  bool no_delay = true;
};
static_assert(detail::owns_nothing<connect_options>);

// Connects to an address, and waits until the connection is established. If the queue of a unix socket is full, the
// connect waits for room: it tries again after 1 ms, and then after twice the last pause, up to 50 ms. Errors:
// invalid_argument for a malformed address; as socket(2) and connect(2). connection_refused also instead of a
// connection of the socket to itself, which TCP makes if nobody listens at a port of this machine and the system
// chooses that very port for the socket. A cancelled or timed out connect releases its socket.
inline auto connect(const socket_address& address, const connect_options& options = {},
                    call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::connect_operation<stream>>(std::in_place, site, detail::system_sockets(), address,
                                                                 options.local_address, options.no_delay);
}

// Options for listeners.
struct listen_options {
  int backlog = 4096;       // connections that wait for accept(); the system has a limit of its own
  bool reuse_port = false;  // several listeners share the connections of one address
  bool v6_only = false;     // [::] does not accept IPv4
  bool no_delay = true;     // of the accepted connections
};
static_assert(detail::owns_nothing<listen_options>);

// Accepts connections to an address.
class listener : public descriptor {
 public:
  listener() noexcept = default;

  // Listens at an address. Port 0 is a free port. bind() does not remove an unused unix path: remove it first. Errors:
  // invalid_argument for a malformed address; as socket(2), bind(2) and listen(2): address_in_use.
  static result<listener> bind(const socket_address& address, const listen_options& options = {}) noexcept;

  // Takes ownership of a socket that listens already, as a program gets it from systemd
  // (examples/socket_activation.cpp). Makes it non-blocking, also for its copies in other processes, and close-on-exec.
  // Errors: bad_file_descriptor; not_a_socket; invalid_argument for a socket that does not listen; not_enough_memory.
  // Then the caller keeps the fd.
  static result<listener> adopt(int fd) noexcept;

  // Waits for the next connection. The stream has the address of its peer, also if the peer has reset the connection
  // meanwhile. accept() skips errors of single connections and of their networks (accept(2)). Other
  // errors: too_many_files_open, too_many_files_open_in_system, no_buffer_space, not_enough_memory.
  auto accept(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::accept_operation<stream>>(std::in_place, site, record(), is_tcp_);
  }

  // Returns the next connection, if one waits. Never suspends. Errors: as accept(); resource_unavailable_try_again, if
  // no connection waits.
  result<stream> try_accept() noexcept;

  socket_address local_address() const noexcept;

 private:
  friend struct detail::socket_access;
  listener(descriptor&& owner, bool tcp) noexcept : descriptor(std::move(owner)), is_tcp_(tcp) {}

  bool is_tcp_ = true;  // not unix
};

}}}  // namespace hocket::tcp
