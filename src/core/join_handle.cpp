#include <hocket/core/join_handle.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

std::error_code error_of_joined(scheduled& of) {
  switch (of.ending()) {
    case outcome_kind::exception: std::rethrow_exception(of.error());
    case outcome_kind::refused: return of.refusal();
    case outcome_kind::timed_out: return std::make_error_code(std::errc::timed_out);
    default: return std::make_error_code(std::errc::operation_canceled);
  }
}

}}}  // namespace hocket::detail
