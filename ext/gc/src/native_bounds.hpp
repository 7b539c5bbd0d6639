// The bounds of the calling thread's own stack, as the system reports them.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

struct native_bounds {
  void* low;
  void* base;  // one past the highest byte
};
// Throws std::system_error.
native_bounds bounds_of_this_thread();

}}}  // namespace hocket::gc::detail
