// Thread mutexes that fibers own: see mutexes.cpp.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket::inline HOCKET_ABI::hook {

// From now on the calls look for scopes with options.mutexes.
void hook_mutexes() noexcept;

}  // namespace hocket::inline HOCKET_ABI::hook
