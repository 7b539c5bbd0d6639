#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/errc.hpp>
#include <hocket/http/percent.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {

std::optional<std::size_t> percent_decode_to(std::string_view text, char* output, plus_sign plus) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3 || !is_in(hex_char, text[i + 1]) || !is_in(hex_char, text[i + 2])) return std::nullopt;
      c = static_cast<char>(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
      i += 2;
    } else if (c == '+' && plus == plus_sign::space) {
      c = ' ';
    }
    output[size++] = c;
  }
  return size;
}

}  // namespace detail

result<std::string> percent_decode(std::string_view text, plus_sign plus) {
  std::string decoded(text.size(), '\0');
  const std::optional<std::size_t> size = detail::percent_decode_to(text, decoded.data(), plus);
  if (!size) return failure(make_error_code(errc::bad_request));
  decoded.resize(*size);
  return decoded;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view hexadecimal = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (detail::is_in(detail::unreserved, c)) {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.push_back('%');
    encoded.push_back(hexadecimal[byte >> 4]);
    encoded.push_back(hexadecimal[byte & 15]);
  }
  return encoded;
}

}}}  // namespace hocket::http
