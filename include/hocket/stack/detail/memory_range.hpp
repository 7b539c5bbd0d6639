// A part of memory, for the calls of the system that take many at once (src/stack/memory.hpp).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whole pages.
struct memory_range {
  std::byte* first;
  std::size_t size;
};

}}}  // namespace hocket::detail
