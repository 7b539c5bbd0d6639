#include <hocket/core/join_handle.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

std::error_code error_of_joined(scheduled& coroutine) {
  switch (coroutine.ending()) {
    case outcome_kind::exception: std::rethrow_exception(coroutine.error());
    case outcome_kind::refused: return coroutine.refusal();
    case outcome_kind::timed_out: return std::make_error_code(std::errc::timed_out);
    default: return std::make_error_code(std::errc::operation_canceled);
  }
}

}}}  // namespace hocket::detail
