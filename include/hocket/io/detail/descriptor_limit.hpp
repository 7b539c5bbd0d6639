// The limit of open descriptors (RLIMIT_NOFILE).
//
// A process starts with a low soft limit, because select(2) accepts only fds below 1,024. A server raises the limit to
// the hard limit by raise_descriptor_limit() (descriptor_table.hpp). A child process may use select(2), so it gets the
// old limit.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The soft limit for a child process: the limit before raise_descriptor_limit(). 0: the child inherits the present one,
// because hocket has not raised it, or because other code has set it since. Any thread.
std::uint64_t soft_limit_to_inherit() noexcept;

}}}  // namespace hocket::detail
