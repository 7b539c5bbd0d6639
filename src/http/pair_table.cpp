#include <hocket/http/detail/pair_table.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/percent.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

// Removes the text before the separator, and the separator, from `rest`.
std::string_view next_part(std::string_view& rest, char separator) noexcept {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

std::size_t count_pairs(std::string_view raw) noexcept {
  std::size_t count = 0;
  while (!raw.empty()) count += next_part(raw, '&').empty() ? 0 : 1;
  return count;
}

// Decodes to `to` and advances it.
bool decode_text(std::string_view raw, char*& to, std::string_view& decoded) noexcept {
  const std::optional<std::size_t> size = percent_decode_to(raw, to, plus_sign::space);
  if (!size) return false;
  decoded = {to, *size};
  to += *size;
  return true;
}

std::string_view without_quotes(std::string_view value) noexcept {
  const bool is_quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

void pair_table::decode(std::string_view raw, arena& memory) {
  const std::size_t count = count_pairs(raw);
  if (count > max_pairs) {
    state_ = state::malformed;
    return;
  }
  char* text = memory.allocate_text(raw.size());
  pairs_ = static_cast<name_value*>(memory.allocate(count * sizeof(name_value)));
  state_ = state::malformed;
  while (!raw.empty()) {
    std::string_view value = next_part(raw, '&');
    if (value.empty()) continue;
    const std::string_view name = next_part(value, '=');
    name_value& pair = *::new (pairs_ + size_) name_value{};
    if (!decode_text(name, text, pair.name) || !decode_text(value, text, pair.value)) return;
    ++size_;
  }
  state_ = state::valid;
}

std::optional<std::string_view> pair_table::find(std::string_view name) const noexcept {
  const auto* const found = std::find_if(begin(), end(), [&](const name_value& pair) { return pair.name == name; });
  if (found == end()) return std::nullopt;
  return found->value;
}

std::optional<std::string_view> find_cookie(std::string_view field, std::string_view name) noexcept {
  while (!field.empty()) {
    std::string_view value = trim(next_part(field, ';'));
    const bool has_name = value.find('=') != std::string_view::npos;
    if (has_name && trim(next_part(value, '=')) == name) return without_quotes(trim(value));
  }
  return std::nullopt;
}

}}}}  // namespace hocket::http::detail
