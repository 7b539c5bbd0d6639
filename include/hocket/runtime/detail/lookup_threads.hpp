// The threads of all name lookups of the process: of clients (net/seam/host_lookup.hpp) and of hooked calls
// (ext/hook).
//
// A resolver waits for its name servers as long as it likes, and cannot be stopped. On the pool of blocking(), 64
// silent lookups would delay each open() of a file. Here they delay other lookups alone.
#pragma once
#include <hocket/runtime/seam/detached_threads.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr std::size_t max_lookups = 32;  // at once; half of the threads of a blocking_pool
inline constexpr std::size_t max_queued_lookups = 10'000;

// Never destroyed. Any thread.
detached_threads& lookup_threads() noexcept;

}}}  // namespace hocket::detail
