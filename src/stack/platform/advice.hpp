// madvise(2) for many ranges, and the errors of such calls.
#pragma once
#include "stack/memory.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Gives the kernel one advice for each range, in order, and stops at the first range that the kernel refuses. Returns
// the number of ranges before that one. Sets `error` to the reason, or clears it if all succeed.
std::size_t advise(const memory_range* ranges, std::size_t count, int advice, std::error_code& error) noexcept;

// errno as a code. Call it directly after the failed call.
std::error_code last_error() noexcept;

}}}  // namespace hocket::detail
