#include <hocket/core/join_handle.hpp>

namespace hocket::inline HOCKET_ABI {

std::error_code detail::check_joined(scheduled& of) {
  of.take_result();
  switch (of.how()) {
    case ending::value: return {};
    case ending::error: std::rethrow_exception(of.error());
    case ending::refused: return of.refusal();
    case ending::timed_out: return std::make_error_code(std::errc::timed_out);
    default: return std::make_error_code(std::errc::operation_canceled);
  }
}

}  // namespace hocket::inline HOCKET_ABI
