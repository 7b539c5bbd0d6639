// Character classes of HTTP (RFC 9110, section 5.6), and the reader of fields that are lists.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// Bits of a character.
enum char_class : std::uint8_t {
  token_char = 1,         // RFC 9110, 5.6.2: tchar
  value_char = 2,         // HTAB, SP, VCHAR, obs-text
  target_char = 4,        // VCHAR without `"`, `#`, `<` and `>`
  host_char = 8,          // unreserved and sub-delims (RFC 3986, 3.2.2)
  digit_char = 16,        // 0 to 9
  hex_char = 32,          // 0 to 9, a to f, A to F
  unreserved = 64,        // RFC 3986, 2.3
  plain_path_char = 128,  // target_char without `%`, `.`, `?` and `\`: needs no closer look in a path
};

constexpr bool is_among(char c, std::string_view set) noexcept {
  for (const char member : set)
    if (member == c) return true;
  return false;
}
constexpr std::uint8_t classes_of(unsigned char byte) noexcept {
  const char c = static_cast<char>(byte);
  const bool is_digit = c >= '0' && c <= '9';
  const bool is_alphanumeric = is_digit || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool is_visible = byte > 0x20 && byte < 0x7f;
  int classes = 0;
  if (is_alphanumeric || is_among(c, "!#$%&'*+-.^_`|~")) classes |= token_char;
  if (is_visible || byte >= 0x80 || c == ' ' || c == '\t') classes |= value_char;
  if (is_visible && !is_among(c, "\"#<>")) classes |= target_char;
  if (is_alphanumeric || is_among(c, "-._~!$&'()*+,;=")) classes |= host_char;
  if (is_digit) classes |= digit_char;
  if (is_digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) classes |= hex_char;
  if (is_alphanumeric || is_among(c, "-._~")) classes |= unreserved;
  if (is_visible && !is_among(c, "\"#<>%.?\\")) classes |= plain_path_char;
  return static_cast<std::uint8_t>(classes);
}
constexpr std::array<std::uint8_t, 256> make_char_classes() noexcept {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t i = 0; i != classes.size(); ++i) classes[i] = classes_of(static_cast<unsigned char>(i));
  return classes;
}
inline constexpr std::array<std::uint8_t, 256> char_classes = make_char_classes();

inline bool is_in(char_class members, char c) noexcept {
  return (char_classes[static_cast<unsigned char>(c)] & members) != 0;
}
// Whether all characters are of the class. True for an empty text.
bool all_are_in(char_class members, std::string_view text) noexcept;
inline bool is_token(std::string_view text) noexcept { return !text.empty() && all_are_in(token_char, text); }
// Whether the text may be the value of a field: no CR, LF, NUL or other control character.
inline bool is_field_value(std::string_view text) noexcept { return all_are_in(value_char, text); }

// The value of a hexadecimal digit.
constexpr unsigned hex_value(char digit) noexcept {
  return static_cast<unsigned>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
}
constexpr char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
// Whether the character is white space of a line: SP or HTAB.
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
// Compares ASCII letters without their case.
bool equals_ignore_case(std::string_view a, std::string_view b) noexcept;
// Removes SP and HTAB at both ends.
std::string_view trim(std::string_view text) noexcept;

// Reads the elements of a list field (RFC 9110, section 5.6.1): separated by commas, without the white space around
// them. A comma in a quoted string separates nothing. Empty elements are skipped, and has_empty_elements() reports
// them.
//
//   list_reader elements(value);
//   for (std::string_view element; elements.next(element);) ...
//   if (elements.is_malformed()) ...
//
// Repeated lines are one list: read one line after the other. Lists of entity tags have a reader of their own
// (conditions.cpp): in an entity tag a backslash is a plain character.
class list_reader {
 public:
  explicit list_reader(std::string_view value) noexcept : rest_(value) {}
  // Sets `element` to the next element. False at the end.
  bool next(std::string_view& element) noexcept;
  // Whether a quoted string was not closed. The element with this string was not returned.
  bool is_malformed() const noexcept { return is_malformed_; }
  bool has_empty_elements() const noexcept { return has_empty_elements_; }

 private:
  std::string_view rest_;
  bool is_at_end_ = false;
  bool is_malformed_ = false;
  bool has_empty_elements_ = false;
};

// Whether a list of tokens has this token, in any case. Elements with parameters differ from the token.
bool has_token(std::string_view list, std::string_view token) noexcept;

// The element of a list without its parameters ("gzip" for "gzip;q=0.5"), and the parameters behind the first
// semicolon.
struct list_element {
  std::string_view name;
  std::string_view parameters;
};
list_element split_parameters(std::string_view element) noexcept;
// The quality of an element (RFC 9110, section 12.4.2) in thousandths: 1000 without a parameter q, 0 to 1000; -1 if the
// parameter is malformed.
int quality_of(std::string_view parameters) noexcept;

// Whether `text` is an entity tag: a quoted opaque tag, with or without W/ (RFC 9110, section 8.8.3).
bool is_entity_tag(std::string_view text) noexcept;

}}}}  // namespace hocket::http::detail
