// How many connections all servers of the process may have together, if they have no limits of their own.
#pragma once
#include <hocket/sync/semaphore.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A permit for each of 80 % of the fds that the process may have when it is called first. The rest is left for files,
// clients, epolls and the connections that a server refuses.
semaphore& process_connections() noexcept;
// How many there are in all.
std::size_t process_connection_limit() noexcept;

}}}  // namespace hocket::detail
