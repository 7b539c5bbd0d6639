// TCP: connections and listeners.
//
//   auto peer = co_await or_return(within(3s, tcp::connect("127.0.0.1:80")));
//   co_await or_return(peer.write_all("GET / HTTP/1.0\r\n\r\n"));
//
//   auto door = tcp::listener::bind("[::]:8080").value();
//   for (;;) spawn(serve_one, co_await or_return(door.accept()));
//
// A server that uses all workers, has limits and ends in order: net/serve.hpp. What waiting means: io/descriptor.hpp.
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/net/detail/socket_operations.hpp>
#include <hocket/net/socket_stream.hpp>
#include <chrono>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
struct socket_access;
}  // namespace detail

}}  // namespace hocket

namespace hocket { inline namespace HOCKET_ABI { namespace tcp {

// How a connection that is silent is found to be dead: after `idle` a probe each `interval`, `probes` at most. In whole
// seconds, at least one.
struct keep_alive {
  std::chrono::seconds idle{60};
  std::chrono::seconds interval{10};
  int probes = 6;
};
static_assert(detail::owns_nothing<keep_alive>);

// A TCP connection, or one of a unix socket.
class stream : public socket_stream {
 public:
  stream() noexcept = default;
  // Takes the descriptor of a connected socket over.
  explicit stream(descriptor&& of) noexcept : socket_stream(std::move(of)) {}

  // Whether small writes are sent at once (TCP_NODELAY). On, unless options said otherwise.
  result<void> set_no_delay(bool on) noexcept;
  result<void> set_keep_alive(const keep_alive& how) noexcept;
  // close() resets the connection: what is unsent is lost, the peer reads connection_reset, and nothing stays in
  // TIME_WAIT.
  result<void> set_reset_on_close(bool on) noexcept;
  // Of the kernel, in bytes. It doubles them, and has bounds.
  result<void> set_receive_buffer(std::size_t bytes) noexcept;
  result<void> set_send_buffer(std::size_t bytes) noexcept;
};

// What may be said of a connect.
struct connect_options {
  socket_address local_address{};  // invalid: any
  bool no_delay = true;
};
static_assert(detail::owns_nothing<connect_options>);

// Waits until the connection is there. Errors: invalid_argument for a malformed address; as socket(2) and connect(2).
// A cancelled or timed out connect leaves nothing behind.
inline auto connect(const socket_address& to, const connect_options& options = {},
                    call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::connect_operation<stream>>(std::in_place, at, detail::system_sockets(), to,
                                                                 options.local_address, options.no_delay);
}

// What may be said of a listener.
struct listen_options {
  int backlog = 4096;       // connections that wait to be accepted; the system has a limit of its own
  bool reuse_port = false;  // several listeners of one address share its connections
  bool v6_only = false;     // [::] does not take IPv4, too
  bool no_delay = true;     // of the connections
};
static_assert(detail::owns_nothing<listen_options>);

// Accepts the connections to an address.
class listener : public descriptor {
 public:
  listener() noexcept = default;

  // Listens. Port 0: one that is free. A unix path that is in use by nobody is not taken away: remove it first. Errors:
  // invalid_argument for a malformed address; as socket(2), bind(2) and listen(2): address_in_use.
  static result<listener> bind(const socket_address& to, const listen_options& options = {}) noexcept;

  // The next connection. Errors of single connections and of their networks are passed over (accept(2)); the others
  // are told: too_many_files_open, too_many_files_open_in_system, no_buffer_space, not_enough_memory.
  auto accept(call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::accept_operation<stream>>(std::in_place, at, this->at(), is_tcp_);
  }

  // The next connection, if one waits. Never suspends. Errors: as accept(); resource_unavailable_try_again if none
  // waits.
  result<stream> try_accept() noexcept;

  socket_address local_address() const noexcept;

 private:
  friend struct detail::socket_access;
  listener(descriptor&& of, bool tcp) noexcept : descriptor(std::move(of)), is_tcp_(tcp) {}

  bool is_tcp_ = true;  // not unix
};

}}}  // namespace hocket::tcp
