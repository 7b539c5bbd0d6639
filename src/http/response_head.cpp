#include <hocket/http/detail/response_head.hpp>

#include <charconv>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

constexpr std::size_t max_digits = 20;  // of a std::uint64_t
// The bytes of a head without its reason, fields and date.
constexpr std::size_t fixed_size = 160;

char* append_text(char* to, std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

std::string_view line_of(connection_field field) noexcept {
  switch (field) {
    case connection_field::none: break;
    case connection_field::close: return "Connection: close\r\n";
    case connection_field::keep_alive: return "Connection: keep-alive\r\n";
    case connection_field::upgrade: return "Connection: Upgrade\r\n";
  }
  return {};
}

char* put_framing(char* to, const body_plan& body) noexcept {
  if (body.end == body_end::chunked) return append_text(to, "Transfer-Encoding: chunked\r\n");
  if (body.end != body_end::length) return to;
  to = append_text(to, "Content-Length: ");
  to = std::to_chars(to, to + max_digits, body.length).ptr;
  return append_text(to, "\r\n");
}

// A code below 100 is sent as 500.
bool has_no_body(int code) noexcept { return (code >= 100 && code < 200) || code == 204 || code == 304; }

}  // namespace

body_plan plan_body(const response& answer, http::method method, int minor_version) noexcept {
  const int code = static_cast<int>(answer.status());
  if (has_no_body(code)) return {};
  if (method == http::method::connect && code < 300) return {};  // RFC 9110, 9.3.6
  if (code == 205) return {.end = body_end::length};
  const bool is_wanted = method != http::method::head;
  if (const auto size = response_access::body(answer).size())
    return {.end = body_end::length, .length = *size, .sends_body = is_wanted && *size != 0};
  return {.end = minor_version == 0 ? body_end::close : body_end::chunked, .sends_body = is_wanted};
}

void write_head(const response& answer, const head_context& context, output& to) {
  const auto code = static_cast<unsigned>(answer.status());
  const std::string_view reason = reason_of(answer.status());
  const std::string_view fields = response_access::fields(answer).text();
  char* const begin = to.prepare(fixed_size + reason.size() + fields.size() + context.date.size());
  char* end = append_text(begin, "HTTP/1.1 ");
  end = std::to_chars(end, end + max_digits, code < 100 || code > 999 ? 500 : code).ptr;
  end = append_text(append_text(append_text(end, " "), reason), "\r\n");
  end = append_text(end, fields);
  if (!context.date.empty()) end = append_text(append_text(append_text(end, "Date: "), context.date), "\r\n");
  end = put_framing(end, context.body);
  end = append_text(append_text(end, line_of(context.connection)), "\r\n");
  to.commit(static_cast<std::size_t>(end - begin));
}

}}}}  // namespace hocket::http::detail
