// The media type of a file by the ending of its name.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

// "application/octet-stream" for an unknown ending, and for a name without an ending. Upper and lower case are the
// same. Each type text/* has the parameter charset=utf-8.
std::string_view content_type_of(std::string_view file_name) noexcept;

}}}  // namespace hocket::http::detail
