// The same as core/wait/seam/observed.hpp beside it, for the reports of waits.
#pragma once
#include <hocket/core/wait/seam/observed.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constexpr bool has_observers() noexcept { return false; }
inline void add_hooked_slot() noexcept {}
inline void remove_hooked_slot() noexcept {}
inline void notify_suspended(coroutine_id, const wait_info&) noexcept {}
inline void notify_woken(coroutine_id) noexcept {}

}}}  // namespace hocket::detail
