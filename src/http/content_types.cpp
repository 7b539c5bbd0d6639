#include <hocket/http/detail/content_types.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <algorithm>
#include <array>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace {

struct content_type {
  std::string_view ending;
  std::string_view type;
};

// Sorted by the ending.
constexpr std::array<content_type, 40> content_types{{
    {"7z", "application/x-7z-compressed"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"br", "application/x-brotli"},
    {"bz2", "application/x-bzip2"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"eot", "application/vnd.ms-fontobject"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html; charset=utf-8"},
    {"html", "text/html; charset=utf-8"},
    {"ico", "image/x-icon"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"map", "application/json"},
    {"md", "text/markdown; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"ogv", "video/ogg"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"ttf", "font/ttf"},
    {"txt", "text/plain; charset=utf-8"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", "image/webp"},
    {"woff2", "font/woff2"},
    {"xml", "application/xml"},
    {"zip", "application/zip"},
}};
static_assert(std::ranges::is_sorted(content_types, {}, &content_type::ending));

constexpr std::size_t max_ending_size = 11;

}  // namespace

std::string_view content_type_of(std::string_view file_name) noexcept {
  constexpr std::string_view unknown = "application/octet-stream";
  const std::size_t dot = file_name.rfind('.');
  if (dot == file_name.npos) return unknown;
  const std::string_view ending = file_name.substr(dot + 1);
  if (ending.size() > max_ending_size) return unknown;
  std::array<char, max_ending_size> lower{};
  std::ranges::transform(ending, lower.begin(), to_lower);
  const std::string_view key(lower.data(), ending.size());
  const auto found = std::ranges::lower_bound(content_types, key, {}, &content_type::ending);
  return found != content_types.end() && found->ending == key ? found->type : unknown;
}

}}}  // namespace hocket::http::detail
