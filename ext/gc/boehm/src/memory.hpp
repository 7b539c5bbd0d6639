// The memory of hocket's coroutines and of exceptions, which libgc scans.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

// The address of our definition of __cxa_allocate_exception.
const void* allocate_exception() noexcept;

// Called before libgc is connected. Throws std::logic_error if hocket has allocated memory already.
void install_memory_source();

}}}  // namespace hocket::gc::boehm
