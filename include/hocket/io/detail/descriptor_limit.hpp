// The limit of open descriptors (RLIMIT_NOFILE).
//
// A process starts with a low soft limit, because select(2) takes no fd from 1,024 on. A server raises it to the hard
// limit by raise_descriptor_limit() (descriptor_table.hpp). A child process may use select(2), so it gets the old limit
// back.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The soft limit for a child process: the limit before raise_descriptor_limit(). 0: the child inherits the present one,
// because it was not raised, or because somebody else has set it since. Any thread.
std::uint64_t soft_limit_to_inherit() noexcept;

}}}  // namespace hocket::detail
