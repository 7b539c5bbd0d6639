#include <hocket/core/yield.hpp>
#include <hocket/coro/detail/range_walk.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

task<> yield_once() { co_await yield(); }

}}}  // namespace hocket::detail
