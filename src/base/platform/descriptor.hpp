// Writing to a file descriptor.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Writes all of it, however many calls that takes; waits where the descriptor does not block. False: an error came
// first, and some of it may be written. Changes errno.
[[nodiscard]] bool write_all(int fd, const char* text, std::size_t size) noexcept;

}}}  // namespace hocket::detail
