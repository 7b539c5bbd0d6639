#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/response.hpp>

#include <algorithm>
#include <array>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace {

// Written by the server, which alone knows the framing and the fate of the connection.
constexpr std::array<std::string_view, 8> server_fields = {"connection",        "content-length",   "date",
                                                           "keep-alive",        "proxy-connection", "trailer",
                                                           "transfer-encoding", "upgrade"};

[[noreturn, HOCKET_COLD]] void refuse(const char* reason) {
  throw std::system_error(std::make_error_code(std::errc::invalid_argument), reason);
}

bool is_server_field(std::string_view name) noexcept {
  return std::any_of(server_fields.begin(), server_fields.end(),
                     [&](std::string_view field) { return detail::equals_ignore_case(field, name); });
}

void check_value(std::string_view value) {
  if (!detail::is_field_value(value)) refuse("hocket: the value of a field has a control character");
}
void check_field(std::string_view name, std::string_view value) {
  if (!detail::is_token(name)) refuse("hocket: the name of a field is no token");
  if (is_server_field(name)) refuse("hocket: the server writes this field");
  check_value(value);
}

bool is_visible(char c) noexcept { return c > 0x20 && c < 0x7f; }

// RFC 6265, section 4.1.1: cookie-octet.
bool is_cookie_octet(char c) noexcept { return is_visible(c) && c != '"' && c != ',' && c != ';' && c != '\\'; }

// RFC 6265, section 4.1.1: av-octets.
void check_attribute(std::string_view value) {
  check_value(value);
  if (value.find(';') != std::string_view::npos) refuse("hocket: an attribute of a cookie has a semicolon");
}

std::string_view name_of(same_site rule) noexcept {
  switch (rule) {
    case same_site::unset: break;
    case same_site::strict: return "Strict";
    case same_site::lax: return "Lax";
    case same_site::none: return "None";
  }
  return {};
}

std::string cookie_text(std::string_view name, std::string_view value, const cookie_options& options) {
  std::string text;
  const auto append = [&](std::string_view key, std::string_view content) {
    if (!content.empty()) text.append(key).append(content);
  };
  text.append(name).append("=").append(value);
  append("; Path=", options.path);
  append("; Domain=", options.domain);
  if (options.max_age >= 0) append("; Max-Age=", std::to_string(options.max_age));
  if (options.secure) text.append("; Secure");
  if (options.http_only) text.append("; HttpOnly");
  append("; SameSite=", name_of(options.same_site));
  return text;
}

}  // namespace

response& response::set(std::string_view name, std::string_view value) & {
  check_field(name, value);
  fields_.replace_line(name, value);
  return *this;
}

response& response::append(std::string_view name, std::string_view value) & {
  check_field(name, value);
  fields_.append_line(name, value);
  return *this;
}

response& response::set_cookie(std::string_view name, std::string_view value, const cookie_options& options) & {
  if (!detail::is_token(name)) refuse("hocket: the name of a cookie is no token");
  if (!std::all_of(value.begin(), value.end(), is_cookie_octet))
    refuse("hocket: the value of a cookie has a character that must be encoded");
  check_attribute(options.path);
  check_attribute(options.domain);
  fields_.append_line("Set-Cookie", cookie_text(name, value, options));
  return *this;
}

response content(std::string_view content_type, std::string_view body) {
  response answer;
  answer.append("Content-Type", content_type);
  detail::response_access::body(answer).set_view(body);
  return answer;
}

response redirect(std::string_view location, http::status status) {
  const int code = static_cast<int>(status);
  if (code < 300 || code > 399) refuse("hocket: the status of a redirect is 300 to 399");
  if (location.empty() || !std::all_of(location.begin(), location.end(), is_visible))
    refuse("hocket: the target of a redirect consists of visible ASCII characters: encode others by %");
  response answer(status);
  answer.append("Location", location);
  return answer;
}

response file_range(std::string_view content_type, unique_fd file, std::uint64_t offset, std::uint64_t size,
                    blocking_pool* pool) {
  response answer;
  answer.append("Content-Type", content_type);
  detail::response_access::body(answer).set_file(
      std::make_unique<detail::body_file>(std::move(file), offset, size, pool));
  return answer;
}

namespace detail {

response viewed(std::string_view type_line, std::string_view body) {
  response answer;
  response_access::append_lines(answer, type_line);
  response_access::body(answer).set_view(body);
  return answer;
}

response owned(std::string_view type_line, std::string&& body) {
  response answer;
  response_access::append_lines(answer, type_line);
  response_access::body(answer).set_text(std::move(body));
  return answer;
}

response with_function(std::string_view content_type, std::optional<std::uint64_t> size,
                       std::unique_ptr<body_function> function) {
  response answer;
  answer.append("Content-Type", content_type);
  response_access::body(answer).set_function(std::move(function), size);
  return answer;
}

void response_body::clear() noexcept {
  is_text_ = is_owned_ = false;
  view_ = {};
  owned_.clear();
  file_.reset();
  function_.reset();
  upgrade_.reset();
  size_.reset();
}

void response_body::set_view(std::string_view text) noexcept {
  clear();
  is_text_ = true;
  view_ = text;
}

void response_body::set_text(std::string&& text) noexcept {
  clear();
  is_text_ = is_owned_ = true;
  owned_ = std::move(text);
}

void response_body::set_file(std::unique_ptr<body_file> file) noexcept {
  clear();
  file_ = std::move(file);
}

void response_body::set_function(std::unique_ptr<body_function> function, std::optional<std::uint64_t> size) noexcept {
  clear();
  function_ = std::move(function);
  size_ = size;
}

void response_body::set_upgrade(std::unique_ptr<upgrade_function> function) noexcept {
  clear();
  upgrade_ = std::move(function);
}

}  // namespace detail

}}}  // namespace hocket::http
