// Scans of text for the first byte of a kind, eight bytes at a time.
#pragma once
#include <hocket/http/detail/tokens.hpp>
#include <bit>
#include <cstdint>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

inline constexpr std::uint64_t byte_ones = 0x0101010101010101;

constexpr std::uint64_t swap_bytes(std::uint64_t word) noexcept {
  std::uint64_t swapped = 0;
  for (int i = 0; i < 8; ++i, word >>= 8) swapped = swapped << 8 | (word & 0xff);
  return swapped;
}
// Eight bytes, of which the first is in the lowest bits.
inline std::uint64_t load_word(const char* begin) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, begin, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = swap_bytes(word);
  return word;
}
// The same for less than eight bytes that end at `end`: NUL follows. Eight bytes in front of `end` can be read.
inline std::uint64_t load_last_word(const char* begin, const char* end) noexcept {
  return begin == end ? 0 : load_word(end - 8) >> (8 * (8 - (end - begin)));
}
constexpr std::ptrdiff_t first_marked(std::uint64_t marks) noexcept { return std::countr_zero(marks) / 8; }

// A word with bit 7 of each byte set that is a control character: below 0x20, or 0x7f. Other bytes may be marked, too,
// because of borrows and carries between bytes.
constexpr std::uint64_t mark_controls(std::uint64_t word) noexcept {
  return ((word - byte_ones * 0x20) | (word + byte_ones)) & ~word & (byte_ones * 0x80);
}
// The same for colons. The lowest marked byte is a colon.
constexpr std::uint64_t mark_colons(std::uint64_t word) noexcept {
  const std::uint64_t difference = word ^ (byte_ones * ':');
  return (difference - byte_ones) & ~difference & (byte_ones * 0x80);
}

// The first byte in [begin, end) that is no character of a field value, or `end`.
inline const char* skip_value(const char* begin, const char* end) noexcept {
  while (end - begin >= 8) {
    const std::uint64_t marks = mark_controls(load_word(begin));
    if (marks == 0) {
      begin += 8;
      continue;
    }
    begin += first_marked(marks);
    if (!is_in(value_char, *begin)) return begin;
    ++begin;  // a tab, or marked without a reason
  }
  while (begin != end && is_in(value_char, *begin)) ++begin;
  return begin;
}

// The same, if such a byte is known to be there, and eight bytes in front of `end` can be read.
inline const char* skip_value_to_end(const char* begin, const char* end) noexcept {
  const char* const last_word = end - 8;
  for (;;) {
    const std::uint64_t marks = mark_controls(begin <= last_word ? load_word(begin) : load_last_word(begin, end));
    if (marks == 0) {
      begin += 8;
      continue;
    }
    begin += first_marked(marks);
    if (!is_in(value_char, *begin)) return begin;
    ++begin;  // a tab, or marked without a reason
  }
}

// The first colon in [begin, end), or `end`. Eight bytes in front of `end` can be read.
inline const char* find_colon(const char* begin, const char* end) noexcept {
  for (const char* const last_word = end - 8; begin <= last_word; begin += 8)
    if (const std::uint64_t marks = mark_colons(load_word(begin)); marks != 0) return begin + first_marked(marks);
  const std::uint64_t marks = mark_colons(load_last_word(begin, end));
  return marks == 0 ? end : begin + first_marked(marks);
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
