// The options and the numbers of a connection_pool.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI {

// Options for connection_pool.
struct connection_pool_options {
  std::size_t limit = 16;                            // connections at a time, also in doubt; at least 1
  std::size_t min_size = 0;                          // warm-up: the pool connects until it has so many
  duration connect_time = std::chrono::seconds(10);  // for a connect and, once more, for the hook on create
  duration max_idle = std::chrono::minutes(10);      // a connection that was idle for longer is closed
  duration max_lifetime = duration::max();           // closed at this age, less up to a tenth of it at random
  duration ping_after = duration::max();             // idle for longer: T::ping() looks whether the server answers
  duration drain_time = std::chrono::seconds(2);     // for a drain, a ping, and the hook on recycle
  std::size_t max_drains = 8;                        // at a time; further connections in doubt are closed
  duration report_lease_after =
      duration::max();                  // a lease that is held for longer is reported to the log handler, once
  std::size_t stack_size = 0;           // of a connector or hook that runs as a fiber; 0: the default
  const clock_source* clock = nullptr;  // null: the machine's monotonic clock; else the spawn target's clock
  literal_name name = "connections";    // in dumps and reports
};
static_assert(detail::owns_nothing<connection_pool_options>);

// The numbers of a pool at one moment, and its counts since construction.
struct connection_pool_statistics {
  std::size_t size = 0;  // idle + lent + connecting + returning
  std::size_t idle = 0;
  std::size_t lent = 0;
  std::size_t connecting = 0;
  std::size_t returning = 0;   // in a drain, a ping, or the hook on recycle
  std::size_t waiters = 0;     // coroutines that wait for a connection
  std::uint64_t connects = 0;  // connections that were made
  std::uint64_t failed_connects = 0;
  std::uint64_t drained = 0;     // connections in doubt that became idle again
  std::uint64_t dropped = 0;     // connections in doubt that were closed
  std::uint64_t dead = 0;        // idle connections that the server had closed
  std::uint64_t expired = 0;     // connections that were closed for max_idle or max_lifetime
  std::error_code last_error{};  // of the last failed connect
};

}}  // namespace hocket
