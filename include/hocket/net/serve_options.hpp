// Options and counts of a server (serve.hpp).
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/core/spawn_options.hpp>
#include <hocket/net/tcp.hpp>
#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace tcp {

// Told of what a connection's handler returned as an error, or threw. `thrown` is null if it returned the error.
// Otherwise `error` is the code of the std::system_error, or state_not_recoverable for other exceptions.
using connection_error_handler = void (*)(const socket_address& peer, std::error_code error,
                                          const std::exception_ptr& thrown) noexcept;

// What may be said of a server.
struct serve_options {
  listen_options listen{};
  std::size_t max_connections = 0;  // at a time; 0: no limit of its own
  // Of each connection's coroutine: its name, its deadline, its stack, when it hibernates.
  spawn_options connection{.name = "connection"};
  connection_error_handler on_error = nullptr;
};
static_assert(detail::owns_nothing<serve_options>);

// What a server has done so far.
struct server_counts {
  std::size_t accepted = 0;
  std::size_t failed = 0;   // whose handlers returned an error, or threw
  std::size_t refused = 0;  // that were closed at once, for want of descriptors
};

}  // namespace tcp

}}  // namespace hocket
