// The answer with a file: conditions, ranges and fields.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/http/request.hpp>
#include <hocket/http/response.hpp>
#include <string_view>

#include "http/beneath.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

// The fields of an answer that do not depend on the request. Empty texts: no such field.
struct file_fields {
  std::string_view content_type{};
  std::string_view cache_control{};
  std::string_view encoding{};  // "br" or "gzip"
  std::string_view download_name{};
  bool varies = false;            // by Accept-Encoding
  blocking_pool* pool = nullptr;  // reads the file; null: the pool of the process
};

// `opened` is a regular file. Errors: precondition_failed. Throws std::bad_alloc.
result<response> answer_with_file(request& rq, opened_file&& opened, const file_fields& fields);

}}}  // namespace hocket::http::detail
