// Thread mutexes that fibers own: see mutexes.cpp.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// From now on the calls look for scopes with options.mutexes.
void hook_mutexes() noexcept;

}}}  // namespace hocket::hook
