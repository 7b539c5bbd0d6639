// The address of the client behind proxies, by a list of trusted peers.
//
//   auto server = http::serve(rt, "[::]:8080", {.trusted_proxies = "10.0.0.0/8, ::1"}, std::move(routes));
//
// A proxy writes the address of its own peer into the request. Anybody can write such a field, so it counts only if
// the peer of the connection is trusted. The list is then read from its end: each entry was added by the hop behind it.
// The first address that is not trusted is the client's. If an entry is no address (unknown, a hidden name, malformed),
// the reading ends, and the last hop with an address counts.
//
// Without trusted proxies no field is read, and the client is the peer of the connection.
//
// Hazard. If the proxies set X-Forwarded-For, and the server read Forwarded, too, then a client could send a Forwarded
// of its own, because such proxies pass it on. Prevented: a server reads one of the two, by its options.
//
// Sources: RFC 7239; X-Forwarded-For as nginx, Apache and haproxy write it.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/http/serve_options.hpp>
#include <hocket/net/address.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// A set of networks. Read by any number of threads at a time.
class trusted_proxies {
 public:
  trusted_proxies() noexcept = default;  // no peer

  // Members are separated by commas or blanks: an address, a network as "10.0.0.0/8" or "fd00::/8", or "unix" for all
  // peers of unix sockets. Errors: invalid_argument, also for a network with bits behind its prefix. Throws
  // std::bad_alloc.
  static result<trusted_proxies> parse(std::string_view list);

  bool empty() const noexcept { return networks_.empty() && !unix_peers_; }
  // The port does not count. An IPv4 address in IPv6 is in the networks of IPv4.
  bool contains(const socket_address& peer) const noexcept;

 private:
  // IPv4 as IPv6 (::ffff:0:0/96).
  using host = std::array<unsigned char, 16>;
  struct network {
    host prefix;
    unsigned bits;
  };
  static std::optional<host> host_of(const socket_address& address) noexcept;
  static std::optional<network> parse_network(std::string_view text) noexcept;

  std::vector<network> networks_;
  bool unix_peers_ = false;
};

// The client of a request, and what it has sent to the first trusted proxy. Empty texts: no trusted peer has said it.
struct forwarded_client {
  socket_address address;
  std::string_view scheme{};  // "http" or "https"
  std::string_view host{};    // of the field Forwarded alone; not checked
};

// The fields of a request, repeated lines joined by commas.
struct forwarded_fields {
  std::string_view list{};    // Forwarded or X-Forwarded-For
  std::string_view scheme{};  // X-Forwarded-Proto
};

forwarded_client find_client(const socket_address& peer, const trusted_proxies& trusted, proxy_field kind,
                             const forwarded_fields& fields) noexcept;

}}}}  // namespace hocket::http::detail
