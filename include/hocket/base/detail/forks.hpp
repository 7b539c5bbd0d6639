// Whether this is the process that made something, or a child by fork() that has a copy of it without its threads.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// How many forks lie between the process that asked first and this one. Any thread.
std::uint32_t forks_so_far() noexcept;

}}}  // namespace hocket::detail
