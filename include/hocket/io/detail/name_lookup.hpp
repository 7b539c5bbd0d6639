// Name lookups that own their arguments: for clients of libraries that block in a lookup.
//
// Rules for every lookup:
//   - A numeric host is answered at once, on the caller's thread, without a system call that waits.
//   - A name is looked up by getaddrinfo(3) on one of at most 32 threads (half of the default pool of blocking()).
//   These
//     threads are beside the pool, so stuck lookups never delay files and other calls there. Further lookups are
//     queued.
//   - The lookup owns the name. Its waiter leaves at a cancel, a deadline or a kill; the lookup ends later by itself.
//     Neither a shutdown nor the end of the process waits for it.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The category of the errors of getaddrinfo(3): EAI_NONAME, EAI_AGAIN ...
const std::error_category& name_lookup_category() noexcept;

// Whether `host` is a numeric IPv4 or IPv6 address, perhaps with a scope.
bool is_numeric_host(const std::string& host) noexcept;

// The addresses of `host` for stream sockets, numeric, in the order of getaddrinfo(3); at least one. Errors: those of
// name_lookup_category(); the error of the system (EAI_SYSTEM); not_enough_memory; errc::full, if 10,000 lookups are
// queued or the system starts no thread; invalid_argument, if the host contains a zero byte.
task<result<std::vector<std::string>>> resolve_host(std::string host);

}}}  // namespace hocket::detail
