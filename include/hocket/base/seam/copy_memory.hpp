// Memory that may not be there, or may change while it is read: the kernel copies it.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// False: nothing is there, or the system does not let the process look (a sandbox, qemu-user). Any thread.
[[nodiscard]] bool copy_memory(void* to, const void* from, std::size_t size) noexcept;

}}}  // namespace hocket::detail
