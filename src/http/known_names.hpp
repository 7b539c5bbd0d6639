// The table of the known field names, and the lookup that the parser inlines.
#pragma once
#include <hocket/http/detail/field_names.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// In the order of known_field.
inline constexpr std::array<std::string_view, known_field_count> known_names{"Accept",
                                                                             "Accept-Charset",
                                                                             "Accept-Encoding",
                                                                             "Accept-Language",
                                                                             "Access-Control-Request-Headers",
                                                                             "Access-Control-Request-Method",
                                                                             "Authorization",
                                                                             "Cache-Control",
                                                                             "Connection",
                                                                             "Content-Encoding",
                                                                             "Content-Language",
                                                                             "Content-Length",
                                                                             "Content-Type",
                                                                             "Cookie",
                                                                             "Date",
                                                                             "Expect",
                                                                             "Forwarded",
                                                                             "Host",
                                                                             "If-Match",
                                                                             "If-Modified-Since",
                                                                             "If-None-Match",
                                                                             "If-Range",
                                                                             "If-Unmodified-Since",
                                                                             "Keep-Alive",
                                                                             "Last-Event-ID",
                                                                             "Origin",
                                                                             "Pragma",
                                                                             "Range",
                                                                             "Referer",
                                                                             "Sec-WebSocket-Key",
                                                                             "Sec-WebSocket-Version",
                                                                             "TE",
                                                                             "Traceparent",
                                                                             "Trailer",
                                                                             "Transfer-Encoding",
                                                                             "Upgrade",
                                                                             "User-Agent",
                                                                             "Via",
                                                                             "X-Forwarded-For",
                                                                             "X-Forwarded-Proto"};
inline constexpr std::size_t longest_name = 32;

// A hash without collisions among the known names: static_assert below. The factors were found by a search. Bit 5 is
// set in letters, so their case makes no difference.
inline constexpr std::size_t hash_slots = 128;
constexpr std::size_t hash_name(std::size_t first, std::size_t last, std::size_t size) noexcept {
  return (((first | 0x20) + (last | 0x20) * 2) * 9 + size * 4) % hash_slots;
}
constexpr std::size_t hash_name(std::string_view name) noexcept {
  return hash_name(static_cast<unsigned char>(name.front()), static_cast<unsigned char>(name.back()), name.size());
}

struct known_name {
  std::array<char, longest_name> lower{};
  std::uint8_t size = 0;
  known_field field = known_field::unknown;
};

constexpr std::array<known_name, hash_slots> make_known_slots() noexcept {
  std::array<known_name, hash_slots> slots{};
  for (std::size_t i = 0; i != known_field_count; ++i) {
    const std::string_view name = known_names[i];
    known_name& slot = slots[hash_name(name)];
    for (std::size_t k = 0; k != name.size(); ++k)
      slot.lower[k] = name[k] >= 'A' && name[k] <= 'Z' ? static_cast<char>(name[k] | 0x20) : name[k];
    slot.size = static_cast<std::uint8_t>(name.size());
    slot.field = static_cast<known_field>(i);
  }
  return slots;
}
inline constexpr std::array<known_name, hash_slots> known_slots = make_known_slots();

constexpr std::size_t used_slots() noexcept {
  std::size_t used = 0;
  for (const known_name& slot : known_slots) used += slot.size != 0;
  return used;
}
static_assert(used_slots() == known_field_count, "two names have one slot: search other factors");

// Compares a word of a name with a word of letters in lower case and `-`. Bit 6 is set in letters and not in `-`. So
// only the case of letters is ignored, and a CR differs from a `-`: the name need not be a token.
template <class Word>
bool equal_words(const char* name, const char* lower) noexcept {
  Word a = 0;
  Word b = 0;
  std::memcpy(&a, name, sizeof a);
  std::memcpy(&b, lower, sizeof b);
  const Word case_bits = static_cast<Word>((b & static_cast<Word>(0x4040404040404040)) >> 1);
  return static_cast<Word>(a | case_bits) == b;
}

// Compares `size` bytes, at least two, in words that may overlap.
inline bool equals_lower(const char* name, const char* lower, std::size_t size) noexcept {
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 <= size; i += 8)
      if (!equal_words<std::uint64_t>(name + i, lower + i)) return false;
    return equal_words<std::uint64_t>(name + size - 8, lower + size - 8);
  }
  if (size >= 4)
    return equal_words<std::uint32_t>(name, lower) && equal_words<std::uint32_t>(name + size - 4, lower + size - 4);
  return equal_words<std::uint16_t>(name, lower) && equal_words<std::uint16_t>(name + size - 2, lower + size - 2);
}

// find_known_field().
inline known_field match_known_name(std::string_view name) noexcept {
  if (name.size() < 2) return known_field::unknown;
  const known_name& slot = known_slots[hash_name(name)];
  if (slot.size != name.size() || !equals_lower(name.data(), slot.lower.data(), name.size()))
    return known_field::unknown;
  return slot.field;
}

}}}}  // namespace hocket::http::detail
