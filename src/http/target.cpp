#include "byte_scan.hpp"

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

bool is_port(std::string_view text) noexcept {
  if (text.size() > 5) return false;
  unsigned port = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return false;
    port = port * 10 + digit;
  }
  return port <= 0xffff;
}

bool is_ip_v6(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  in6_addr address;
  if (text.empty() || text.size() >= terminated.size()) return false;
  std::memcpy(terminated.data(), text.data(), text.size());
  return ::inet_pton(AF_INET6, terminated.data(), &address) == 1;
}

// The size of the host in front of a colon or the end; npos if it is malformed.
std::size_t size_of_host(std::string_view text) noexcept {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    return end != text.npos && is_ip_v6(text.substr(1, end - 1)) ? end + 1 : text.npos;
  }
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* next = skip(host_char, begin, end);
  while (next != end && *next == '%') {  // seldom
    if (end - next < 3 || !is_in(hex_char, next[1]) || !is_in(hex_char, next[2])) return text.npos;
    next = skip(host_char, next + 3, end);
  }
  return static_cast<std::size_t>(next - begin);
}

}  // namespace

bool is_host(std::string_view text) noexcept {
  const std::size_t size = size_of_host(text);
  if (size == text.size()) return true;
  return size != text.npos && text[size] == ':' && is_port(text.substr(size + 1));
}

bool is_host_with_port(std::string_view text) noexcept {
  const std::size_t size = size_of_host(text);
  return size != 0 && size < text.size() && text[size] == ':' && size + 1 != text.size() &&
         is_port(text.substr(size + 1));
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
