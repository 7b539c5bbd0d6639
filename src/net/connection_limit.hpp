// The limit of connections that all servers of the process without a limit of their own share.
#pragma once
#include <hocket/sync/semaphore.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// At the first call, one permit for each of 80 % of the fds that the process may open. The rest is for files, clients,
// epolls and the connections that a server refuses.
semaphore& process_connections() noexcept;
// How many there are in all.
std::size_t process_connection_limit() noexcept;

}}}  // namespace hocket::detail
