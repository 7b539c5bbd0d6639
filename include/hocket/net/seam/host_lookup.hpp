// Lookups of host names, for clients (pg, redis). The library has no other lookups.
//
//   const auto addresses = co_await or_return(resolve_host("db.internal", 5432));
//
// getaddrinfo(3) blocks its thread for seconds, and cannot be stopped. Therefore
//   - a lookup runs on one of the lookup_threads(), which run nothing else. Files and other blocking calls do not wait
//     behind it. At most max_lookups run at a time, lookups of hooked calls included; further lookups are queued;
//   - a lookup owns its arguments and its result, in a record that it shares with the waiter. If the wait ends early,
//     the waiter drops its share, and the lookup ends by itself. A queued lookup without a waiter is not begun;
//   - a numeric address needs no lookup and no thread.
//
// Neither a shutdown nor the end of the process waits for a lookup. In a forked child the queue is empty.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/net/address.hpp>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Returns at least one address, in the order of getaddrinfo(3). A host that begins with "unix:" is the address of a
// unix socket. Errors: invalid_argument for an empty name, a name with a zero byte, or a port out of range; the errors
// of getaddrinfo(3) in the category "lookup", which equal host_unreachable; the error of the system (EAI_SYSTEM);
// not_enough_memory; errc::full, if max_queued_lookups are queued or the system starts no thread; operation_canceled,
// timed_out. Throws std::bad_alloc.
task<result<std::vector<socket_address>>> resolve_host(std::string host, int port);

// The category "lookup": its values are those of getaddrinfo(3), EAI_NONAME for instance. Only resolve_host() makes
// such errors.
const std::error_category& lookup_category() noexcept;

}}}  // namespace hocket::detail
