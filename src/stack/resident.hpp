// What memory is there, as the operating system knows it.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The lowest page in [low, high) that has memory; `high` or above if none has. `low` is a multiple of the page size.
std::byte* first_resident(std::byte* low, std::byte* high, std::size_t page) noexcept;

// Gives whole pages of private memory back: it is zero when it is touched again.
void drop_memory(std::byte* low, std::size_t size) noexcept;

}}}  // namespace hocket::detail
