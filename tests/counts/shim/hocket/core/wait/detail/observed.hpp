// Events as they would be if there were no observers: the compiler sees that an event does nothing. tests/counts
// compiles the sources that tell of events with this in place of <hocket/core/wait/detail/observed.hpp>, to see what
// observers cost while none is installed.
#pragma once
#include <hocket/core/observer.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constexpr bool observed() noexcept { return false; }
constexpr bool has_observers() noexcept { return false; }
inline void add_hooked_slot() noexcept {}
inline void remove_hooked_slot() noexcept {}
inline void tell_created(coroutine_id, const coroutine_info&) noexcept {}
inline void tell_suspended(coroutine_id, const wait_info&) noexcept {}
inline void tell_woken(coroutine_id) noexcept {}
inline void tell_resumed(coroutine_id) noexcept {}
inline void tell_destroyed(coroutine_id) noexcept {}

}}}  // namespace hocket::detail
