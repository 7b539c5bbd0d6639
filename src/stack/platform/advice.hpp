// madvise for many ranges.
#pragma once
#include "stack/memory.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Gives the kernel one advice for all ranges, in order. Returns how many of them it took; `error` says why not all.
std::size_t advise(const memory_range* ranges, std::size_t count, int advice, std::error_code& error) noexcept;

std::error_code last_error() noexcept;

}}}  // namespace hocket::detail
