#include <hocket/base/seam/platform/algobase.hpp>
#include <hocket/http/detail/chunked_decoder.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <limits>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {
constexpr const char* chunk_section = "RFC 9112, 7.1";
constexpr const char* extension_section = "RFC 9112, 7.1.1";
constexpr const char* trailer_section = "RFC 9112, 7.1.2";
}  // namespace

bool chunked_decoder::refuse(status code, const char* section) noexcept {
  phase_ = phase::refused;
  error_ = {code, section};
  return false;
}

auto chunked_decoder::decode(std::string_view input) noexcept -> step {
  if (phase_ == phase::refused) return {0, {}, state::refused};
  std::size_t i = 0;
  while (phase_ != phase::done) {
    if (i == input.size()) return {i, {}, state::more};
    if (phase_ == phase::data) return take_data(input, i);
    if (phase_ >= phase::trailer_begin && phase_ <= phase::trailer_lf) {
      const step piece = take_trailers(input, i);
      if (piece.state == state::refused || !piece.data.empty()) return piece;
      i = piece.consumed;
      continue;
    }
    if (!read_byte(input[i])) return {i, {}, state::refused};
    ++i;
  }
  return {i, {}, state::done};
}

auto chunked_decoder::take_data(std::string_view input, std::size_t begin) noexcept -> step {
  const std::size_t size =
      static_cast<std::size_t>(std::min<std::uint64_t>(rest_, std::uint64_t{input.size() - begin}));
  rest_ -= size;
  if (rest_ == 0) phase_ = phase::data_cr;
  return {begin + size, input.substr(begin, size), state::data};
}

auto chunked_decoder::take_trailers(std::string_view input, std::size_t begin) noexcept -> step {
  for (std::size_t i = begin; i != input.size(); ++i) {
    if (phase_ == phase::trailer_begin && input[i] == '\r') {
      phase_ = phase::last_lf;
      return {i + 1, input.substr(begin, i - begin), state::trailer};
    }
    if (!read_trailer_byte(input[i])) return {i, {}, state::refused};
  }
  return {input.size(), input.substr(begin), state::trailer};
}

bool chunked_decoder::read_byte(char c) noexcept {
  switch (phase_) {
    case phase::size_begin:
    case phase::size: return read_size(c);
    case phase::size_lf:
      if (c != '\n') return refuse(status::bad_request, "RFC 9112, 2.2");
      digits_ = 0;
      phase_ = rest_ == 0 ? phase::trailer_begin : phase::data;
      return true;
    case phase::data_cr: phase_ = phase::data_lf; return c == '\r' || refuse(status::bad_request, chunk_section);
    case phase::data_lf: phase_ = phase::size_begin; return c == '\n' || refuse(status::bad_request, "RFC 9112, 2.2");
    case phase::last_lf: phase_ = phase::done; return c == '\n' || refuse(status::bad_request, "RFC 9112, 2.2");
    default: break;
  }
  if (c != '\r' && ++extension_bytes_ > limits_.extensions) return refuse(status::bad_request, extension_section);
  return read_extension_byte(c) || refuse(status::bad_request, extension_section);
}

bool chunked_decoder::read_size(char c) noexcept {
  if (is_in(hex_char, c)) {
    // 16 digits, of which the first is at most 7.
    if (++digits_ > 16 || rest_ > std::uint64_t{std::numeric_limits<std::int64_t>::max()} >> 4)
      return refuse(status::bad_request, chunk_section);
    rest_ = rest_ << 4 | hex_value(c);
    phase_ = phase::size;
    return true;
  }
  if (phase_ == phase::size_begin) return refuse(status::bad_request, chunk_section);
  if (c == '\r') {
    phase_ = phase::size_lf;
    return true;
  }
  phase_ = phase::space_before;
  if (++extension_bytes_ > limits_.extensions) return refuse(status::bad_request, extension_section);
  return read_extension_byte(c) ||
         refuse(status::bad_request, is_blank(c) || c == ';' ? extension_section : chunk_section);
}

// `size *( BWS ";" BWS name [ BWS "=" BWS value ] )`. White space in front of CR belongs to nothing and is refused.
bool chunked_decoder::read_extension_byte(char c) noexcept {
  const auto enter = [this](phase p) noexcept {
    phase_ = p;
    return true;
  };
  switch (phase_) {
    case phase::space_before: return c == ';' ? enter(phase::extension_begin) : is_blank(c);
    case phase::extension_begin: return is_in(token_char, c) ? enter(phase::extension_name) : is_blank(c);
    case phase::extension_name:
      if (is_in(token_char, c)) return true;
      if (is_blank(c)) return enter(phase::space_equals);
      if (c == '=') return enter(phase::value_begin);
      break;
    case phase::space_equals:
      if (c == '=') return enter(phase::value_begin);
      return c == ';' ? enter(phase::extension_begin) : is_blank(c);
    case phase::value_begin:
      if (c == '"') return enter(phase::value_quoted);
      return is_in(token_char, c) ? enter(phase::value_token) : is_blank(c);
    case phase::value_token:
      if (is_in(token_char, c)) return true;
      if (is_blank(c)) return enter(phase::space_before);
      break;
    case phase::value_quoted:
      if (c == '"') return enter(phase::value_end);
      return c == '\\' ? enter(phase::value_escape) : is_in(value_char, c);
    case phase::value_escape: phase_ = phase::value_quoted; return is_in(value_char, c);
    case phase::value_end:
      if (is_blank(c)) return enter(phase::space_before);
      break;
    default: return false;
  }
  // Behind a name or a value.
  if (c == '\r') return enter(phase::size_lf);
  return c == ';' && enter(phase::extension_begin);
}

bool chunked_decoder::read_trailer_byte(char c) noexcept {
  constexpr status too_large = status::request_header_fields_too_large;
  if (++trailer_bytes_ > limits_.trailers) return refuse(too_large, "RFC 6585, 5");
  if (phase_ == phase::trailer_lf) {
    phase_ = phase::trailer_begin;
    return c == '\n' || refuse(status::bad_request, "RFC 9112, 2.2");
  }
  if (phase_ == phase::trailer_value && c == '\r') {
    phase_ = phase::trailer_lf;
    return true;
  }
  if (phase_ == phase::trailer_begin) {
    line_bytes_ = 0;
    if (++trailer_fields_ > limits_.fields) return refuse(too_large, "RFC 6585, 5");
    if (!is_in(token_char, c)) return refuse(status::bad_request, trailer_section);
    phase_ = phase::trailer_name;
  }
  if (++line_bytes_ > limits_.line) return refuse(too_large, "RFC 6585, 5");
  if (phase_ == phase::trailer_value) return is_in(value_char, c) || refuse(status::bad_request, trailer_section);
  if (c == ':') phase_ = phase::trailer_value;
  return c == ':' || is_in(token_char, c) || refuse(status::bad_request, trailer_section);
}

bool read_trailers(std::string_view text, field_table& fields) noexcept {
  fields.clear();
  fields.set_begin(text.data());
  for (std::size_t begin = 0; begin != text.size();) {
    const std::size_t end = text.find("\r\n", begin);
    const std::size_t colon = text.find(':', begin);
    if (end == text.npos || colon > end || fields.is_full() || end - begin > 0xffff) return false;
    const std::string_view name = text.substr(begin, colon - begin);
    const std::string_view value = trim(text.substr(colon + 1, end - colon - 1));
    if (!is_token(name) || !is_field_value(value)) return false;
    const std::size_t distance = value.empty() ? 0 : static_cast<std::size_t>(value.data() - text.data()) - colon;
    fields.append({.name_offset = static_cast<std::uint32_t>(begin),
                   .name_size = static_cast<std::uint16_t>(name.size()),
                   .value_distance = static_cast<std::uint16_t>(distance),
                   .value_size = static_cast<std::uint16_t>(value.size()),
                   .known = find_known_field(name),
                   .next = 0});
    begin = end + 2;
  }
  return true;
}

}}}}  // namespace hocket::http::detail
