// The PROXY protocol, version 1 (text) and 2 (binary): a load balancer sends the addresses of the client before the
// first byte of the client.
//
//   PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n
//   <12 bytes of signature> <version and command> <family> <length, 2 bytes> <addresses> <further values>
//
// Limits. A header of version 1 has at most 107 bytes, by its specification. A header of version 2 has at most
// max_size bytes here; a longer one is refused. Further values (TLV) are skipped.
//
// Trust. Any client can send such a header. Parse a header only if the peer is trusted, and then always: a trusted peer
// without a header is refused.
//
// Source: "The PROXY protocol", HAProxy Technologies, 2.2 and 2.3.
#pragma once
#include <hocket/net/address.hpp>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

struct proxy_header {
  static constexpr std::size_t max_size = 2048;
  enum class outcome : std::uint8_t {
    incomplete,  // the bytes are the beginning of a header
    complete,
    refused,
  };

  // `bytes` are all bytes that have arrived.
  static proxy_header parse(std::string_view bytes) noexcept;

  outcome result = outcome::incomplete;
  std::size_t size = 0;  // of the complete header: the request begins behind the header
  // Invalid if the header names no internet addresses: the connection is the proxy's own (LOCAL, a health check), or
  // the family is UNKNOWN, unspecified or unix. Then the peer of the connection counts.
  socket_address source{};
  socket_address destination{};
};

}}}  // namespace hocket::http::detail
