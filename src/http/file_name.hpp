// The name of a file, from the raw rest of a path.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

// Splits `path` at its slashes, and decodes each segment. The name of a folder ends with a slash, and "" is the root.
// Nothing: an empty segment, `.`, `..`, a segment with a slash, a backslash, NUL or a malformed percent sign, a name
// that begins with a dot if `dotfiles` is false, or more than 4,000 bytes. Throws std::bad_alloc.
std::optional<std::string> file_name_of(std::string_view path, bool dotfiles);

// The qualities of encodings of content, by Accept-Encoding (RFC 9110, 12.5.3): 0, not accepted, to 1,000, the best.
struct accepted_encodings {
  int br = 0;
  int gzip = 0;

  static accepted_encodings parse(std::string_view field) noexcept;
};

}}}  // namespace hocket::http::detail
