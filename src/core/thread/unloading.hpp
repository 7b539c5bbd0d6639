// Whether the library that hocket is a part of is being unloaded.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// True once dlclose() has begun. At the end of a program it becomes true after the destructors of static objects. A
// portable build has no way to learn it, and always returns false.
bool unloading() noexcept;

}}}  // namespace hocket::detail
