// The address of the client behind proxies, by a list of trusted peers.
//
//   auto server = http::serve(rt, "[::]:8080", {.trusted_proxies = "10.0.0.0/8, ::1"}, std::move(routes));
//
// A proxy appends the address of its own peer to a field of the request. Any client can send such a field, so the field
// counts only if the peer of the connection is trusted. The list is then read from its end, because each hop appends
// its entry. The first address that is not trusted is the client's. If an entry is no address (unknown, a hidden name,
// malformed), the reading ends, and the last hop with an address counts. At most 32 entries are read.
//
// Without trusted proxies no field is read, and the client is the peer of the connection.
//
// Hazard. If the proxies set X-Forwarded-For, and the server read Forwarded, too, then a client could forge its address
// by a Forwarded of its own, because such proxies pass Forwarded on. Prevented by serve_options: a server reads one of
// the two fields.
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

// A set of networks. Any number of threads may read the set at a time.
class trusted_proxies {
 public:
  trusted_proxies() noexcept = default;  // no peer

  // The members are separated by commas or blanks. A member is an address, a network like "10.0.0.0/8" or "fd00::/8",
  // or "unix" for all peers of unix sockets. Errors: invalid_argument, also for a network with bits behind its prefix.
  // Throws std::bad_alloc.
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

// The client of a request, and the scheme and host of its request to the first trusted proxy. An empty text: no trusted
// peer has sent this value.
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
