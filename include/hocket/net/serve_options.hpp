// Options and counts of a server (serve.hpp).
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/core/spawn_options.hpp>
#include <hocket/net/tcp.hpp>
#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace tcp {

// Called if the handler of a connection returns an error, or throws. `thrown` is null if the handler returned an error.
// Otherwise `error` is the code of the std::system_error, or state_not_recoverable for other exceptions.
using connection_error_handler = void (*)(const socket_address& peer, std::error_code error,
                                          const std::exception_ptr& thrown) noexcept;

// Options for tcp::serve().
struct serve_options {
  listen_options listen{};
  std::size_t max_connections = 0;  // at a time; 0: no limit of the server's
  // For the coroutine of each connection: name, deadline, stack, time until hibernation.
  spawn_options connection{.name = "connection"};
  connection_error_handler on_error = nullptr;
};
static_assert(detail::owns_nothing<serve_options>);

// Counts of connections since the start of a server.
struct server_counts {
  std::size_t accepted = 0;
  std::size_t failed = 0;   // the handler returned an error, or threw
  std::size_t refused = 0;  // closed at once, because no fds were left
};

}  // namespace tcp

}}  // namespace hocket
