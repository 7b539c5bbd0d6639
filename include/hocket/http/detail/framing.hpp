// How the body of a request is delimited (RFC 9112, section 6.3), and whether the connection persists after it (section
// 9.3).
#pragma once
#include <hocket/http/detail/refusal.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class request_head;

struct framing {
  enum class body_kind : std::uint8_t { none, length, chunked };

  std::uint64_t length = 0;  // Content-Length; greater than 0 for body_kind::length, else 0
  body_kind kind = body_kind::none;
  bool expects_continue = false;  // HTTP/1.1, with a body: the client asks for 100 (Continue) before it sends the body
  bool keeps_alive = true;        // the client wants a persistent connection
  bool upgrades = false;          // HTTP/1.1, Connection has the option `upgrade`, and there is a field Upgrade
  bool accepts_trailers = false;  // TE has `trailers`

  bool has_body() const noexcept { return kind != body_kind::none; }
};

// Sets all of `body` from a complete head: its method, version, and the fields Host, Content-Length, Transfer-Encoding,
// Expect, Connection, Upgrade and TE. Returns an unset refusal if the request is valid.
refusal read_framing(const request_head& head, framing& body) noexcept;

}}}}  // namespace hocket::http::detail
