#include <hocket/core/yield.hpp>
#include <hocket/coro/detail/range_walk.hpp>

namespace hocket::inline HOCKET_ABI::detail {

task<> let_others_run() { co_await yield(); }

}  // namespace hocket::inline HOCKET_ABI::detail
