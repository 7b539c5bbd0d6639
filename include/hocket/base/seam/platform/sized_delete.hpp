// operator delete that is told the size, where the compiler has it: clang before 19 does so only with
// -fsized-deallocation.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

#if defined(__cpp_sized_deallocation)
inline void sized_delete(void* memory, std::size_t bytes) noexcept { ::operator delete(memory, bytes); }
#else
inline void sized_delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }
#endif

}}}  // namespace hocket::detail
