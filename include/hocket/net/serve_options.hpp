// Options and counts of a server (serve.hpp).
#pragma once
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/core/spawn_options.hpp>
#include <hocket/net/tcp.hpp>
#include <chrono>
#include <exception>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace tcp {

// Called if the handler of a connection returns an error, or throws, but not if it ends by cancellation. `thrown` is
// null if the handler returned an error. Otherwise `error` is the code of the std::system_error, not_enough_memory for
// std::bad_alloc, or state_not_recoverable for other exceptions. Also called with not_enough_memory if there was no
// memory to begin the handler.
using connection_error_handler = void (*)(const socket_address& peer, std::error_code error,
                                          const std::exception_ptr& thrown) noexcept;

// Options for tcp::serve().
struct serve_options {
  static constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

  listen_options listen{};
  std::size_t max_connections = 0;  // at a time, or `unlimited`; 0: the default of net/serve.hpp
  // How long a connection may be idle (net/serve.hpp), up to 24 days; duration::max(): for ever.
  duration max_idle = std::chrono::seconds(60);
  // Sent to each peer over the limit, which is then closed, and counted as refused. At most a few KB, and lives as long
  // as the server. Empty: such peers wait.
  std::string_view overload_reply{};
  // For the coroutine of each connection: name, deadline, stack, time until hibernation.
  spawn_options connection{.name = "connection"};
  connection_error_handler on_error = nullptr;
  literal_name name = "server";  // in metrics (base/metrics.hpp)
};
static_assert(detail::owns_nothing<serve_options>);

// Counts of connections since the start of a server. The connections of `accepted` whose handlers still run are in no
// other count.
struct server_counts {
  std::size_t accepted = 0;   // a handler was called
  std::size_t completed = 0;  // the handler returned, without an error
  std::size_t failed = 0;     // the handler returned an error, or threw
  std::size_t cancelled = 0;  // the handler ended by cancellation, or was killed
  std::size_t refused = 0;    // closed without a handler: no fds or no memory was left, or the server had ended
};

}  // namespace tcp

}}  // namespace hocket
