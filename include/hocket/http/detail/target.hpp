// The target of a request (RFC 9112, section 3.2) in its four forms, hosts, and the segments of a path.
//
// Paths. A path is split into segments before it is decoded, so `%2F` is a character of its segment. These are refused
// with 400:
// - a percent sign without two hexadecimal digits behind it,
// - `%00`,
// - the segments `.` and `..`, also encoded (`%2e`). Clients remove such segments before they send a target (RFC 3986,
//   5.2.4). A server that removes them disagrees with a proxy that compares the raw path.
// - `\`, which browsers replace by `/`. `%5C` is a character.
// The characters `"`, `#`, `<` and `>` and all bytes outside of ASCII are refused in the whole target; no browser sends
// them. The query is not decoded here, and may contain malformed percent signs.
#pragma once
#include <hocket/http/detail/refusal.hpp>
#include <hocket/http/method.hpp>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

enum class target_form : std::uint8_t { origin, absolute, authority, asterisk };

struct target_parts {
  std::string_view scheme;     // "" except for an absolute target
  std::string_view authority;  // host and port of an absolute target and of CONNECT
  std::string_view path;       // raw; begins with `/`; "*" for the asterisk; "" for CONNECT
  std::string_view query;      // raw, without the question mark
  target_form form = target_form::origin;
  bool has_query = false;  // also for an empty query
};

// Splits and checks a target that consists of characters of target_char. The parts are views into `target`, except the
// path of an absolute target without a path.
refusal parse_target(method of_method, std::string_view target, target_parts& parts) noexcept;

// Whether the text is `uri-host [":" port]` (RFC 9110, section 7.2). The empty host is a host. A text with user
// information is not.
bool is_host(std::string_view text) noexcept;
// Whether the text is a host with a port, and the host is not empty.
bool is_host_with_port(std::string_view text) noexcept;

// Whether `%2F` or `%2f` is in the text: its decoded form has a slash that separates nothing.
bool has_encoded_slash(std::string_view raw) noexcept;

// Reads the raw segments of a path: "a", "" for "/a/".
class segment_reader {
 public:
  explicit segment_reader(std::string_view path) noexcept : rest_(path) {}
  // Sets `segment` to the next segment. False at the end.
  bool next(std::string_view& segment) noexcept;

 private:
  std::string_view rest_;
};

}}}}  // namespace hocket::http::detail
