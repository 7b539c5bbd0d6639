// Content-Disposition of a file that the browser saves (RFC 6266).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

// `attachment` with the name, twice if it has other characters than those of ASCII:
//   attachment; filename="_berblick.pdf"; filename*=UTF-8''%C3%9Cberblick.pdf
// The first form is for old clients. A character that a client could misread in it is an underscore. The second form
// (RFC 8187) is absent if the name is no UTF-8. In both forms slashes, backslashes and control characters are
// underscores, so a name cannot lead to another folder. Throws std::bad_alloc.
std::string disposition_of(std::string_view name);

}}}  // namespace hocket::http::detail
