#include <hocket/http/detail/field_names.hpp>

#include <array>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

// In the order of known_field.
constexpr std::array<std::string_view, known_field_count> known_names{"Accept",
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
constexpr std::size_t longest_name = 32;

// A hash without collisions among the known names: static_assert below. The factors were found by a search. Bit 5 is
// set in letters, so their case makes no difference.
constexpr std::size_t hash_slots = 128;
constexpr std::size_t hash_name(const char* name, std::size_t size) noexcept {
  const auto byte = [name](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(name[i] | 0x20));
  };
  return (byte(0) * 18 + byte(size - 1) + byte(size / 2) * 20) % hash_slots;
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
    known_name& slot = slots[hash_name(name.data(), name.size())];
    for (std::size_t k = 0; k != name.size(); ++k)
      slot.lower[k] = name[k] >= 'A' && name[k] <= 'Z' ? static_cast<char>(name[k] | 0x20) : name[k];
    slot.size = static_cast<std::uint8_t>(name.size());
    slot.field = static_cast<known_field>(i);
  }
  return slots;
}
constexpr std::array<known_name, hash_slots> known_slots = make_known_slots();

constexpr std::size_t used_slots() noexcept {
  std::size_t used = 0;
  for (const known_name& slot : known_slots) used += slot.size != 0;
  return used;
}
static_assert(used_slots() == known_field_count, "two names have one slot: search other factors");

template <class Word>
bool equal_words(const char* name, const char* lower) noexcept {
  Word a = 0;
  Word b = 0;
  std::memcpy(&a, name, sizeof a);
  std::memcpy(&b, lower, sizeof b);
  return (a | static_cast<Word>(0x2020202020202020)) == b;
}

// Compares `size` bytes, at least two, in words that may overlap. Bit 5 turns letters into lower case, and no other
// character of a token into a letter or `-`.
bool equals_lower(const char* name, const char* lower, std::size_t size) noexcept {
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 <= size; i += 8)
      if (!equal_words<std::uint64_t>(name + i, lower + i)) return false;
    return equal_words<std::uint64_t>(name + size - 8, lower + size - 8);
  }
  if (size >= 4)
    return equal_words<std::uint32_t>(name, lower) && equal_words<std::uint32_t>(name + size - 4, lower + size - 4);
  return equal_words<std::uint16_t>(name, lower) && equal_words<std::uint16_t>(name + size - 2, lower + size - 2);
}

}  // namespace

known_field find_known_field(std::string_view name) noexcept {
  if (name.size() < 2) return known_field::unknown;
  const known_name& slot = known_slots[hash_name(name.data(), name.size())];
  if (slot.size != name.size() || !equals_lower(name.data(), slot.lower.data(), name.size()))
    return known_field::unknown;
  return slot.field;
}

std::string_view to_string(known_field field) noexcept {
  const auto index = static_cast<std::size_t>(field);
  return index < known_field_count ? known_names[index] : std::string_view{};
}

}}}}  // namespace hocket::http::detail
