// What the system's tools show of a thread.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// "name-index", the name cut off if the system has no room for it.
void name_this_thread(const char* name, std::size_t index) noexcept;

}}}  // namespace hocket::detail
