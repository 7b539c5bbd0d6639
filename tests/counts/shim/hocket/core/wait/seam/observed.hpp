// Events as they would be if there were no observers: the compiler sees that an event does nothing. tests/counts
// compiles the sources that tell of events with this in place of <hocket/core/wait/seam/observed.hpp>, to see what
// observers cost while none is installed.
#pragma once
#include <hocket/core/observer.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constexpr bool observed() noexcept { return false; }
inline void notify_created(coroutine_id, const coroutine_info&) noexcept {}
inline void notify_resumed(coroutine_id) noexcept {}
inline void notify_destroyed(coroutine_id) noexcept {}

}}}  // namespace hocket::detail
