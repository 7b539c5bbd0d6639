#include <hocket/core/join_handle.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

std::error_code error_of_joined(scheduled& coroutine) {
  switch (coroutine.ending()) {
    case outcome_kind::exception: std::rethrow_exception(coroutine.error());
    case outcome_kind::refused: return coroutine.refusal();
    case outcome_kind::timed_out: return make_error_code(errc::deadline_exceeded);
    default: return make_error_code(errc::cancelled);
  }
}

}}}  // namespace hocket::detail
