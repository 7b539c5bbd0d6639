#include <hocket/core/yield.hpp>
#include <hocket/coro/detail/range_walk.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

task<> let_others_run() { co_await yield(); }

}}}  // namespace hocket::detail
