#include <hocket/http/percent.hpp>

#include "http/disposition.hpp"

#include <algorithm>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace {

bool is_ascii(char c) noexcept { return static_cast<unsigned char>(c) < 0x80; }
bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
// A control character, or a separator of folders on some system.
bool is_forbidden(char c) noexcept { return (is_ascii(c) && c < ' ') || c == '\x7F' || c == '/' || c == '\\'; }

// The size of the character at the beginning of the text; 0: malformed UTF-8 (RFC 3629). The second byte excludes
// overlong forms, surrogates and numbers above U+10FFFF.
std::size_t size_of_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned greatest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > greatest) return 0;
  for (std::size_t i = 2; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return size;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = size_of_character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

// An underscore for each character of `name` that is not plain.
std::string ascii_form(std::string_view name, bool is_valid) {
  std::string text;
  for (const char c : name) {
    if (is_valid && is_continuation(c)) continue;
    const bool is_plain = is_ascii(c) && !is_forbidden(c) && c != '"' && c != '%';
    text += is_plain ? c : '_';
  }
  return text;
}

std::string utf8_form(std::string_view name) {
  std::string text(name);
  std::replace_if(text.begin(), text.end(), is_forbidden, '_');
  return percent_encode(text);
}

}  // namespace

std::string disposition_of(std::string_view name) {
  const bool is_valid = is_utf8(name);
  std::string text = "attachment; filename=\"" + ascii_form(name, is_valid) + '"';
  if (is_valid && !std::all_of(name.begin(), name.end(), is_ascii))
    text.append("; filename*=UTF-8''").append(utf8_form(name));
  return text;
}

}}}  // namespace hocket::http::detail
