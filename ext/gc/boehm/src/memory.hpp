// The memory that comes from libgc: that of hocket's coroutines, and that of exceptions.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket::inline HOCKET_ABI::gc::boehm {

// Before libgc is connected. Throws std::logic_error if hocket has memory already.
void take_memory_from_libgc();

}  // namespace hocket::inline HOCKET_ABI::gc::boehm
