// From an expected failure to an exception, for callers that prefer one.
#pragma once
#include <hocket/base/platform/config.hpp>
#include <system_error>

namespace hocket::inline HOCKET_ABI {

// Thrown when a wait was cancelled. It does not derive from std::exception: a handler that logs and swallows
// `const std::exception&` must not swallow a cancellation.
class cancelled {
 public:
  const char* what() const noexcept { return "hocket: cancelled"; }
  std::error_code code() const noexcept { return std::make_error_code(std::errc::operation_canceled); }
};

// Throws `cancelled` if `error` equals std::errc::operation_canceled, otherwise std::system_error of `error`.
[[noreturn]] void throw_error(std::error_code error);

}  // namespace hocket::inline HOCKET_ABI
