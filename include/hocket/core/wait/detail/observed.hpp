// What observers are told of a wait (core/observer.hpp), beside seam/observed.hpp.
#pragma once
#include <hocket/core/wait/seam/observed.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

[[HOCKET_COLD]] void tell_suspended(coroutine_id who, const wait_info& facts) noexcept;
[[HOCKET_COLD]] void tell_woken(coroutine_id who) noexcept;

}}}  // namespace hocket::detail
