// The head of a response: status line, the fields of the handler, and the fields of the server.
#pragma once
#include <hocket/http/detail/output.hpp>
#include <hocket/http/method.hpp>
#include <hocket/http/response.hpp>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// How the end of a body is marked.
enum class body_end : std::uint8_t {
  none,     // there is no body, and no field (1xx, 204, 304 without a size)
  length,   // Content-Length
  chunked,  // Transfer-Encoding: chunked
  close,    // the end of the connection, for HTTP/1.0
};

// The decision about the body of a response to a request.
struct body_plan {
  body_end end = body_end::none;
  std::uint64_t length = 0;  // of body_end::length
  bool sends_body = false;   // false: only the head is sent (HEAD, 1xx, 204, 304, an empty body)
};
// `minor_version` is the request's.
body_plan plan_body(const response& answer, http::method method, int minor_version) noexcept;

enum class connection_field : std::uint8_t { none, close, keep_alive, upgrade };

// What the connection adds to a response.
struct head_context {
  std::string_view date{};  // the text of Date; empty: no such field
  connection_field connection = connection_field::none;
  body_plan body{};
};

// Appends the head to the output, the empty line included. Throws std::bad_alloc; then nothing has changed.
void write_head(const response& answer, const head_context& context, output& to);

}}}}  // namespace hocket::http::detail
