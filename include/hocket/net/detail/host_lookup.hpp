// Lookups of host names, for clients (pg, redis).
//
//   const auto addresses = co_await or_return(resolve_host("db.internal", 5432));
//
// getaddrinfo(3) blocks its thread for seconds, and cannot be stopped. So
//   - a lookup runs on a thread of its own pool, which runs lookups alone: neither files nor other blocking calls wait
//     behind it. The pool has at most max_lookups threads; further lookups are queued;
//   - a lookup owns its arguments and its result, in a record that it shares with the waiter. If the wait ends early,
//     the waiter leaves, and the lookup ends by itself. A queued lookup that has no waiter is not begun;
//   - a numeric address needs no lookup and no thread.
//
// The threads are detached, and end when they were idle for 10 s. Neither a shutdown nor the end of the process waits
// for them. In a forked child a new pool begins.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/net/address.hpp>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr std::size_t max_lookups = 32;  // half of the threads of blocking_pool

// Returns at least one address, in the order of getaddrinfo(3). A host that begins with "unix:" is the address of a
// unix socket. Errors: invalid_argument for an empty name, a name with a zero byte, or a port out of range; the errors
// of getaddrinfo(3) in the category "lookup", which equal host_unreachable; operation_canceled, timed_out;
// resource_unavailable_try_again if the system starts no thread. Throws std::bad_alloc.
task<result<std::vector<socket_address>>> resolve_host(std::string host, int port);

// The category "lookup": its values are those of getaddrinfo(3), EAI_NONAME for instance.
const std::error_category& lookup_category() noexcept;

}}}  // namespace hocket::detail
