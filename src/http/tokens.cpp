#include <hocket/http/detail/tokens.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

bool all_are_in(char_class members, std::string_view text) noexcept {
  for (const char c : text)
    if (!is_in(members, c)) return false;
  return true;
}

bool equals_ignore_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i != a.size(); ++i)
    if (a[i] != b[i] && to_lower(a[i]) != to_lower(b[i])) return false;
  return true;
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

namespace {

// The position behind a quoted string that begins at `begin`; npos if it is not closed.
std::size_t end_of_quoted(std::string_view text, std::size_t begin) noexcept {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.npos;
}

// The position of the first `mark` outside of quoted strings, or the size; npos if a quoted string is not closed.
std::size_t find_unquoted(std::string_view text, char mark) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == mark) return i;
    i = text[i] == '"' ? end_of_quoted(text, i) : i + 1;
    if (i == text.npos) return i;
  }
  return text.size();
}

}  // namespace

bool list_reader::next(std::string_view& element) noexcept {
  while (!is_at_end_) {
    const std::size_t size = find_unquoted(rest_, ',');
    if (size == rest_.npos) {
      is_malformed_ = is_at_end_ = true;
      return false;
    }
    element = trim(rest_.substr(0, size));
    if (size == rest_.size()) is_at_end_ = true;
    else rest_.remove_prefix(size + 1);
    if (!element.empty()) return true;
    has_empty_elements_ = true;
  }
  return false;
}

bool has_token(std::string_view list, std::string_view token) noexcept {
  list_reader elements(list);
  for (std::string_view element; elements.next(element);)
    if (equals_ignore_case(element, token)) return true;
  return false;
}

list_element split_parameters(std::string_view element) noexcept {
  const std::size_t size = find_unquoted(element, ';');
  if (size >= element.size()) return {trim(element), {}};
  return {trim(element.substr(0, size)), trim(element.substr(size + 1))};
}

namespace {

// "0", "0.5", "1.000": in thousandths, or -1.
int read_quality(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return -1;
  if (text.size() > 1 && text[1] != '.') return -1;
  int thousandths = (text[0] - '0') * 1000;
  int weight = 100;
  for (std::size_t i = 2; i < text.size(); ++i, weight /= 10) {
    if (!is_in(digit_char, text[i])) return -1;
    thousandths += (text[i] - '0') * weight;
  }
  return thousandths > 1000 ? -1 : thousandths;
}

}  // namespace

int quality_of(std::string_view parameters) noexcept {
  while (!parameters.empty()) {
    const std::size_t size = find_unquoted(parameters, ';');
    if (size == parameters.npos) return -1;
    const std::string_view parameter = trim(parameters.substr(0, size));
    if (parameter.size() >= 2 && to_lower(parameter[0]) == 'q' && parameter[1] == '=')
      return read_quality(parameter.substr(2));
    parameters.remove_prefix(size == parameters.size() ? size : size + 1);
  }
  return 1000;
}

bool is_entity_tag(std::string_view text) noexcept {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  const std::string_view opaque = text.substr(1, text.size() - 2);
  return all_are_in(value_char, opaque) && opaque.find_first_of("\" \t") == opaque.npos;
}

}}}}  // namespace hocket::http::detail
