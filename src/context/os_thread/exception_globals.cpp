#include <hocket/context/detail/exception_globals.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

exception_globals& current_exception_globals() noexcept {
  static constinit exception_globals nothing_to_move{nullptr, 0};
  return nothing_to_move;
}

}}}  // namespace hocket::detail
