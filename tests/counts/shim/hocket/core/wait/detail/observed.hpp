// The same as core/wait/seam/observed.hpp beside it, for the reports of waits.
#pragma once
#include <hocket/core/wait/seam/observed.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline void tell_suspended(coroutine_id, const wait_info&) noexcept {}
inline void tell_woken(coroutine_id) noexcept {}

}}}  // namespace hocket::detail
