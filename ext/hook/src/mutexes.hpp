// Mutexes of threads that fibers own: see mutexes.cpp.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket::inline HOCKET_ABI::hook {

// From now on, in scopes that ask for them.
void hook_mutexes() noexcept;

}  // namespace hocket::inline HOCKET_ABI::hook
