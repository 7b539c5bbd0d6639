// Options and counts of an HTTP server.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/net/serve_options.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

struct access_record;

// The field that the trusted proxies set. X-Forwarded-For has its scheme in X-Forwarded-Proto. A server reads one of
// the two, because a client can send the other one through its proxies.
enum class proxy_field : std::uint8_t { x_forwarded_for, forwarded };

// Called once for each answer, by the worker of the connection, when all bytes of the answer are in the output of the
// connection or were handed to the system, or when the answer has failed. It must not block. The record is valid during
// the call.
using access_handler = void (*)(const access_record& record) noexcept;

// Limits of an HTTP server. A request beyond a limit is answered with the status in the comment, and its connection
// closes. Times end waits for the peer alone: a handler is limited by its own deadline (route_options).
struct limits {
  std::uint32_t max_line = 8 * 1024;            // bytes of the request line (414), and of one field line (431)
  std::uint32_t max_head = 16 * 1024;           // bytes of the request line and all field lines (431)
  std::uint16_t max_fields = 100;               // field lines (431)
  std::size_t max_body = std::size_t{1} << 20;  // bytes of a body (413), unless the route has a limit of its own
  std::size_t max_bodies = std::size_t{1}
                           << 26;                // bytes of all bodies that are read whole at a time; further ones wait
  std::size_t max_drain = std::size_t{1} << 18;  // bytes of a body that its handler has not read; else the end
  duration first_byte = std::chrono::seconds(10);  // of a new connection; closed without an answer
  duration head = std::chrono::seconds(10);        // from the first byte of a request to the end of its head (408)
  duration idle = std::chrono::seconds(60);  // between two requests, or before the first; closed without an answer
  // Bytes a second of a body (408), and of an answer (reset); 0: no limit. See http/server.hpp.
  std::uint32_t min_rate = 1024;
  // How long a peer may be silent. Bytes that it has taken of an answer extend this, to at most six times. Make it
  // longer for clients that need more time to read a large part of their receive buffer.
  duration rate_grace = std::chrono::seconds(10);
};
static_assert(hocket::detail::owns_nothing<limits>);

// Options for http::serve().
struct serve_options {
  tcp::listen_options listen{};
  std::size_t max_connections = 0;  // at each address, as tcp::serve_options::max_connections
  // Peers over the limit of connections get a 503 and the end of the connection. False: they wait.
  bool reply_when_full = false;
  // A handler is cancelled if its peer has shut down writing. False: only the function of an event_stream() is; other
  // handlers are cancelled if the connection is over. A TCP peer that has closed its socket is not distinguishable from
  // one that has shut down writing, until it is written to.
  bool cancel_when_half_closed = false;
  http::limits limits{};
  // The proxies in front of the server, and the field that they set. Members are separated by commas or blanks: an
  // address, a network as "10.0.0.0/8" or "fd00::/8", or "unix" for all peers of unix sockets. The field counts only if
  // the peer is in the list. It is read from its end: the first address that is not in the list is the client's.
  std::string_view trusted_proxies{};
  proxy_field proxies_set = proxy_field::x_forwarded_for;
  // A connection of a trusted proxy begins with a header of the PROXY protocol, version 1 or 2.
  bool proxy_protocol = false;
  literal_name name = "http";  // for metrics
  // For the coroutine that serves a request that waits: name, deadline, stack, time until hibernation.
  spawn_options connection{.name = "http connection"};
  access_handler access_log = nullptr;
  tcp::connection_error_handler on_error = nullptr;  // of a connection, not of a handler
};
static_assert(hocket::detail::owns_nothing<serve_options>);

// Counts since the start of a server. A connection adds the bytes of an answer after it has sent them.
struct request_counts {
  std::array<std::uint64_t, 6> answers{};  // by the first digit of their status: answers[2] are the 2xx
  std::uint64_t bytes_in = 0;              // of bodies that have ended, also of rests that were dropped
  std::uint64_t bytes_out = 0;             // of answers, with their heads
};

}}}  // namespace hocket::http
