// Memory that libgc looks through: of hocket's coroutines, and of exceptions.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

// The address of our definition of __cxa_allocate_exception.
const void* allocate_exception() noexcept;

// Before libgc is connected. Throws std::logic_error if hocket has memory already.
void give_memory_to_libgc();

}}}  // namespace hocket::gc::boehm
