// What the system's tools show of a thread.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// "name-index", or "name-role". The name is cut off if both are longer than the 15 bytes that the system keeps.
void name_this_thread(const char* name, std::size_t index) noexcept;
void name_this_thread(const char* name, const char* role) noexcept;

}}}  // namespace hocket::detail
