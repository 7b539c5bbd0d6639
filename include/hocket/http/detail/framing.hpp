// How a request's body is delimited (RFC 9112, section 6.3), and the connection's fate after it (section 9.3).
#pragma once
#include <hocket/http/detail/refusal.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class request_head;

struct framing {
  enum class body_kind : std::uint8_t { none, length, chunked };

  std::uint64_t length = 0;  // of a body with a length; never 0 for body_kind::length
  body_kind kind = body_kind::none;
  bool expects_continue = false;  // the client waits for 100 before it sends the body
  bool keeps_alive = true;        // the client allows a further request
  bool upgrades = false;          // Connection has the option `upgrade`, and there is a field Upgrade
  bool accepts_trailers = false;  // TE has `trailers`

  bool has_body() const noexcept { return kind != body_kind::none; }
};

// Reads Host, Content-Length, Transfer-Encoding, Expect, Connection, Upgrade and TE of a complete head.
refusal read_framing(const request_head& head, framing& body) noexcept;

}}}}  // namespace hocket::http::detail
