#include <hocket/http/detail/tokens.hpp>
#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <string>
#include <string_view>

#include "http/byte_scan.hpp"

namespace {

using namespace hocket::http::detail;

// Texts of 8 to 40 bytes with up to two special bytes: `check` gets the text, which ends where its memory ends.
template <class Check>
void for_each_text(Check check) {
  constexpr std::array<char, 12> specials{'\r', '\n', '\t', '\0', '\x1f', ' ', '~', '\x7f', '\x80', '\xff', ':', ';'};
  for (const std::size_t size : {8u, 9u, 15u, 16u, 17u, 23u, 40u})
    for (std::size_t first = 0; first != size; ++first)
      for (const char special : specials)
        for (std::size_t distance = 1; distance <= 9 && first + distance < size; ++distance)
          for (const char second : specials) {
            std::string text(size, 'a');
            text[first] = special;
            text[first + distance] = second;
            text.shrink_to_fit();
            check(text);
          }
}

std::size_t first_bad(std::string_view text, std::size_t begin) {
  while (begin != text.size() && is_in(value_char, text[begin])) ++begin;
  return begin;
}

TEST_CASE("a scan of a value stops at the first byte that no value has, wherever it begins and ends") {
  std::size_t wrong = 0;
  for_each_text([&wrong](const std::string& text) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const char* const expected = begin + first_bad(text, i);
      wrong += skip_value(begin + i, end) != expected;
      if (expected != end) wrong += skip_value_to_end(begin + i, end) != expected;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a scan for a colon finds the first one, or the end") {
  std::size_t wrong = 0;
  for_each_text([&wrong](const std::string& text) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    for (const char* from = begin; from <= end; ++from) wrong += find_colon(from, end) != std::find(from, end, ':');
  });
  CHECK(wrong == 0);
}

TEST_CASE("each byte of each class ends a scan of the other bytes") {
  for (const char_class members : {token_char, target_char, host_char, digit_char, hex_char, plain_path_char})
    for (int byte = 0; byte != 256; ++byte)
      for (std::size_t place = 0; place != 9; ++place) {
        std::string text(9, '7');
        text[place] = static_cast<char>(byte);
        const std::size_t expected = is_in(members, text[place]) ? text.size() : place;
        CHECK(skip(members, text.data(), text.data() + text.size()) == text.data() + expected);
      }
}

}  // namespace
