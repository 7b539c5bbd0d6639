// The 40 field names that have a number: the parser stores the number, so a lookup of such a field compares no text.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

enum class known_field : std::uint8_t {
  accept,
  accept_charset,
  accept_encoding,
  accept_language,
  access_control_request_headers,
  access_control_request_method,
  authorization,
  cache_control,
  connection,
  content_encoding,
  content_language,
  content_length,
  content_type,
  cookie,
  date,
  expect,
  forwarded,
  host,
  if_match,
  if_modified_since,
  if_none_match,
  if_range,
  if_unmodified_since,
  keep_alive,
  last_event_id,
  origin,
  pragma,
  range,
  referer,
  sec_websocket_key,
  sec_websocket_version,
  te,
  traceparent,
  trailer,
  transfer_encoding,
  upgrade,
  user_agent,
  via,
  x_forwarded_for,
  x_forwarded_proto,
  unknown,  // any other name
};
inline constexpr std::size_t known_field_count = 40;
static_assert(static_cast<std::size_t>(known_field::unknown) == known_field_count);

// The number of a name, in any case; known_field::unknown for other texts. A known name is a token.
known_field find_known_field(std::string_view name) noexcept;
// The name as RFC 9110 writes it: "Content-Length". "" for known_field::unknown.
std::string_view to_string(known_field field) noexcept;

}}}}  // namespace hocket::http::detail
