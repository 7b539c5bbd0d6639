// For loops whose other operations may never wait: other coroutines run in between (core/wait/seam/budget.hpp).
#pragma once
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline operation<always_possible<>> check_turn(call_site site = this_call_site()) noexcept {
  return operation<always_possible<>>({}, site);
}

}}}  // namespace hocket::detail
