#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/percent.hpp>

#include "http/file_name.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace {

constexpr std::size_t max_name_size = 4000;
constexpr std::string_view forbidden_bytes("/\\\0", 3);

bool is_file_name(std::string_view segment, bool dotfiles) noexcept {
  if (segment.empty() || segment == "." || segment == "..") return false;
  return (dotfiles || segment.front() != '.') && segment.find_first_of(forbidden_bytes) == segment.npos;
}

}  // namespace

std::optional<std::string> file_name_of(std::string_view path, bool dotfiles) {
  if (path.size() > max_name_size) return {};
  std::string name(path.size(), '\0');
  std::size_t size = 0;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::optional<std::size_t> decoded = percent_decode_to(path.substr(0, slash), name.data() + size);
    if (!decoded || !is_file_name({name.data() + size, *decoded}, dotfiles)) return {};
    size += *decoded;
    if (slash == path.npos) break;
    name[size++] = '/';
    path.remove_prefix(slash + 1);
  }
  name.resize(size);
  return name;
}

// "*" stands for each encoding that is not named.
accepted_encodings accepted_encodings::parse(std::string_view field) noexcept {
  int br = -1, gzip = -1, others = 0;
  list_reader elements(field);
  for (std::string_view element; elements.next(element);) {
    const list_element parts = split_parameters(element);
    const int quality = quality_of(parts.parameters);
    if (quality < 0) continue;
    if (equals_ignore_case(parts.name, "br")) br = quality;
    else if (equals_ignore_case(parts.name, "gzip") || equals_ignore_case(parts.name, "x-gzip")) gzip = quality;
    else if (parts.name == "*") others = quality;
  }
  return {.br = br < 0 ? others : br, .gzip = gzip < 0 ? others : gzip};
}

}}}  // namespace hocket::http::detail
