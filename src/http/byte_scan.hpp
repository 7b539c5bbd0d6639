// Scans of text for the first byte of a kind, eight bytes at a time.
#pragma once
#include <hocket/http/detail/tokens.hpp>
#include <bit>
#include <cstdint>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// A word with bit 7 of each byte set that is a control character: below 0x20, or 0x7f. Bytes above the lowest such byte
// may be marked wrongly, because a subtraction borrows from the next byte.
constexpr std::uint64_t mark_controls(std::uint64_t word) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  const std::uint64_t deletes = word ^ (ones * 0x7f);
  const std::uint64_t below = (word - ones * 0x20) & ~word;
  return (below | ((deletes - ones) & ~deletes)) & (ones * 0x80);
}

// The first byte in [begin, end) that is no character of a field value, or `end`.
inline const char* skip_value(const char* begin, const char* end) noexcept {
  while (end - begin >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, begin, sizeof word);
    const std::uint64_t marks = mark_controls(word);
    if (marks == 0) {
      begin += 8;
      continue;
    }
    if constexpr (std::endian::native == std::endian::little) begin += std::countr_zero(marks) / 8;
    if (!is_in(value_char, *begin)) return begin;
    ++begin;  // a tab: a control character that a value may have. Big-endian: a byte in front of the marked one
  }
  while (begin != end && is_in(value_char, *begin)) ++begin;
  return begin;
}

// The first byte in [begin, end) that is not of the class, or `end`.
inline const char* skip(char_class members, const char* begin, const char* end) noexcept {
  while (end - begin >= 4) {
    if (!is_in(members, begin[0])) return begin;
    if (!is_in(members, begin[1])) return begin + 1;
    if (!is_in(members, begin[2])) return begin + 2;
    if (!is_in(members, begin[3])) return begin + 3;
    begin += 4;
  }
  while (begin != end && is_in(members, *begin)) ++begin;
  return begin;
}

// The same, if a byte that is not of the class is known to follow.
inline const char* skip_to_end(char_class members, const char* begin) noexcept {
  while (is_in(members, *begin)) ++begin;
  return begin;
}

}}}}  // namespace hocket::http::detail
