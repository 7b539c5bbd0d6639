#include "byte_scan.hpp"

#include <hocket/base/seam/platform/attributes.hpp>
#include <hocket/http/detail/target.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <arpa/inet.h>
#include <array>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

constexpr refusal bad_target(const char* section) noexcept { return {status::bad_request, section}; }

// Characters of a path that need a closer look: `%`, `.` and `\`. `?` ends the path.
constexpr std::array<bool, 256> make_path_marks() noexcept {
  std::array<bool, 256> marks{};
  for (const char c : {'%', '.', '\\', '?'}) marks[static_cast<unsigned char>(c)] = true;
  return marks;
}
constexpr std::array<bool, 256> path_marks = make_path_marks();

// Whether a segment is `.` or `..`, if each `%2e` is a dot.
bool is_dot_segment(std::string_view segment) noexcept {
  std::size_t dots = 0;
  for (std::size_t i = 0; i != segment.size(); ++dots) {
    if (segment[i] == '.') i += 1;
    else if (segment.size() - i >= 3 && segment[i] == '%' && segment[i + 1] == '2' && (segment[i + 2] | 0x20) == 'e')
      i += 3;
    else return false;
  }
  return dots == 1 || dots == 2;
}

bool has_good_percent_signs(std::string_view path) noexcept {
  for (std::size_t i = 0; i != path.size(); ++i) {
    if (path[i] != '%') continue;
    if (path.size() - i < 3 || !is_in(hex_char, path[i + 1]) || !is_in(hex_char, path[i + 2])) return false;
    if (path[i + 1] == '0' && path[i + 2] == '0') return false;
  }
  return true;
}

refusal check_marked_path(std::string_view path) noexcept {
  if (path.find('\\') != path.npos) return bad_target("RFC 3986, 3.3");
  if (!has_good_percent_signs(path)) return bad_target("RFC 3986, 2.1");
  segment_reader segments(path);
  for (std::string_view segment; segments.next(segment);)
    if (is_dot_segment(segment)) return bad_target("RFC 3986, 5.2.4");
  return {};
}

// Splits the path and the query, which begin at a slash or question mark.
refusal split_path(std::string_view text, target_parts& parts) noexcept {
  std::size_t size = 0;
  bool is_marked = false;
  for (; size != text.size(); ++size) {
    if (!path_marks[static_cast<unsigned char>(text[size])]) continue;
    if (text[size] == '?') break;
    is_marked = true;
  }
  parts.path = text.substr(0, size);
  if (size != text.size()) {
    parts.query = text.substr(size + 1);
    parts.has_query = true;
  }
  return is_marked ? check_marked_path(parts.path) : refusal{};
}

refusal parse_absolute(method of_method, std::string_view target, target_parts& parts) noexcept {
  constexpr const char* section = "RFC 9112, 3.2.2";
  const std::size_t colon = target.find("://");
  if (colon == target.npos) return bad_target("RFC 9112, 3.2");
  parts.form = target_form::absolute;
  parts.scheme = target.substr(0, colon);
  if (!equals_ignore_case(parts.scheme, "http") && !equals_ignore_case(parts.scheme, "https"))
    return bad_target(section);
  const std::string_view rest = target.substr(colon + 3);
  const std::size_t size = rest.find_first_of("/?");
  parts.authority = rest.substr(0, size);
  if (parts.authority.empty() || parts.authority[0] == ':' || !is_host(parts.authority)) return bad_target(section);
  if (const refusal error = split_path(size == rest.npos ? std::string_view{} : rest.substr(size), parts);
      error.is_set())
    return error;
  if (parts.path.empty()) parts.path = of_method == method::options && !parts.has_query ? "*" : "/";
  return {};
}

// At most five digits, so their order as text is their order as numbers if there are five.
inline bool is_port(const char* begin, const char* end) noexcept {
  const std::ptrdiff_t size = end - begin;
  if (size > 5 || skip(digit_char, begin, end) != end) return false;
  return size < 5 || std::memcmp(begin, "65535", 5) <= 0;
}

bool is_ip_v6(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  in6_addr address;
  if (text.empty() || text.size() >= terminated.size()) return false;
  std::memcpy(terminated.data(), text.data(), text.size());
  return ::inet_pton(AF_INET6, terminated.data(), &address) == 1;
}

// The end of a host in brackets or with percent signs, or null if it is malformed. `next` is the first special byte.
const char* skip_special_host(const char* begin, const char* next, const char* end) noexcept {
  if (*begin == '[') {
    const std::string_view text(begin, static_cast<std::size_t>(end - begin));
    const std::size_t size = text.find(']');
    return size != text.npos && is_ip_v6(text.substr(1, size - 1)) ? begin + size + 1 : nullptr;
  }
  while (next != end && *next == '%') {
    if (end - next < 3 || !is_in(hex_char, next[1]) || !is_in(hex_char, next[2])) return nullptr;
    next = skip(host_char, next + 3, end);
  }
  return next;
}

// The end of the host, or null if it is malformed.
[[HOCKET_ALWAYS_INLINE]] inline const char* skip_host(const char* begin, const char* end) noexcept {
  const char* const next = skip(host_char, begin, end);
  return next == end || *next == ':' ? next : skip_special_host(begin, next, end);
}

}  // namespace

bool is_host(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  const char* const host_end = skip_host(text.data(), end);
  return host_end == end || (host_end && *host_end == ':' && is_port(host_end + 1, end));
}

bool is_host_with_port(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  const char* const host_end = skip_host(text.data(), end);
  return host_end && host_end != text.data() && end - host_end > 1 && *host_end == ':' && is_port(host_end + 1, end);
}

refusal parse_target(method of_method, std::string_view target, target_parts& parts) noexcept {
  parts = {};
  if (target.empty()) return bad_target("RFC 9112, 3.2");
  if (of_method == method::connect) {
    parts.form = target_form::authority;
    parts.authority = target;
    return is_host_with_port(target) ? refusal{} : bad_target("RFC 9112, 3.2.3");
  }
  if (target[0] == '/') return split_path(target, parts);
  if (target == "*") {
    parts.form = target_form::asterisk;
    parts.path = target;
    return of_method == method::options ? refusal{} : bad_target("RFC 9112, 3.2.4");
  }
  return parse_absolute(of_method, target, parts);
}

bool has_encoded_slash(std::string_view raw) noexcept {
  for (std::size_t i = raw.find('%'); i != raw.npos && raw.size() - i >= 3; i = raw.find('%', i + 1))
    if (raw[i + 1] == '2' && (raw[i + 2] | 0x20) == 'f') return true;
  return false;
}

bool segment_reader::next(std::string_view& segment) noexcept {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('/', 1);
  segment = rest_.substr(1, end == rest_.npos ? end : end - 1);
  rest_.remove_prefix(end == rest_.npos ? rest_.size() : end);
  return true;
}

}}}}  // namespace hocket::http::detail
