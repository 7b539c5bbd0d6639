#include <hocket/http/detail/ranges.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace {

// Digits alone. A number beyond 64 bits is the greatest one: it is behind the end of every file.
std::optional<std::uint64_t> parse_position(std::string_view text) noexcept {
  if (text.empty() || !all_are_in(digit_char, text)) return {};
  std::uint64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc::result_out_of_range)
    return UINT64_MAX;
  return number;
}

}  // namespace

bool range_set::overlaps(const byte_range& range) const noexcept {
  return std::any_of(begin(), end(),
                     [&](const byte_range& other) { return range.begin < other.end && other.begin < range.end; });
}

// `text` is "first-", "first-last" or "-suffix".
range_set::verdict range_set::add(std::string_view text, std::uint64_t size) noexcept {
  const std::size_t hyphen = text.find('-');
  if (hyphen == text.npos) return verdict::refused;
  const std::string_view first_text = text.substr(0, hyphen);
  const std::string_view last_text = text.substr(hyphen + 1);
  byte_range range;
  if (first_text.empty()) {
    const auto suffix = parse_position(last_text);
    if (!suffix) return verdict::refused;
    range = {size - std::min(*suffix, size), size};
  } else {
    const auto first = parse_position(first_text);
    const auto last = last_text.empty() ? std::optional<std::uint64_t>(UINT64_MAX) : parse_position(last_text);
    if (!first || !last || *last < *first) return verdict::refused;
    range = {std::min(*first, size), *last < size ? *last + 1 : size};
  }
  if (range.begin >= range.end) return verdict::dropped;
  if (overlaps(range)) return verdict::refused;
  ranges_[count_++] = range;
  return verdict::added;
}

range_set range_set::parse(std::string_view field, std::uint64_t size) noexcept {
  const std::size_t equals = field.find('=');
  if (equals == field.npos || !equals_ignore_case(trim(field.substr(0, equals)), "bytes")) return {};
  std::string_view rest = field.substr(equals + 1);
  range_set set;
  std::size_t members = 0;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view member = trim(rest.substr(0, comma));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    if (member.empty()) continue;  // a list may have empty members (RFC 9110, 5.6.1.2)
    if (++members > max_ranges || set.add(member, size) == verdict::refused) return {};
  }
  if (members == 0) return {};
  set.outcome_ = set.count_ == 0 ? outcome::unsatisfiable : outcome::satisfiable;
  return set;
}

}}}  // namespace hocket::http::detail
