// The errors of a Redis server, as error codes.
//
// A server refuses a command with a text such as "MOVED 3999 10.0.0.2:6381" or "WRONGTYPE Operation against a key ...".
// The first word of the text is the code. Each redis::errc equals std::errc::bad_message, too.
//
//   const auto reply = redis::expect(co_await client.command("GET", key));
//   if (!reply && reply.error() == redis::errc::moved) follow(client.refusal());
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <string_view>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace redis {

// A code of the server; the words of the server are in the comments.
enum class errc {
  refused = 1,          // ERR, and every word that is not in this list
  ask = 2,              // ASK
  busy = 3,             // BUSY: a script runs
  busy_group = 4,       // BUSYGROUP
  cluster_down = 5,     // CLUSTERDOWN
  cross_slot = 6,       // CROSSSLOT
  exec_aborted = 7,     // EXECABORT
  loading = 8,          // LOADING: the server reads its data after a start
  master_down = 9,      // MASTERDOWN
  misconfigured = 10,   // MISCONF: the server cannot save
  moved = 11,           // MOVED
  no_auth = 12,         // NOAUTH
  no_group = 13,        // NOGROUP
  no_permission = 14,   // NOPERM
  no_replicas = 15,     // NOREPLICAS
  no_script = 16,       // NOSCRIPT
  out_of_memory = 17,   // OOM
  read_only = 18,       // READONLY: a replica was asked to write
  try_again = 19,       // TRYAGAIN
  unblocked = 20,       // UNBLOCKED: the server ended a blocking command
  unkillable = 21,      // UNKILLABLE
  wrong_password = 22,  // WRONGPASS
  wrong_type = 23,      // WRONGTYPE
};

// The category "redis", for std::error_code(value, error_category()).
const std::error_category& error_category() noexcept;
inline std::error_code make_error_code(errc error) noexcept { return {static_cast<int>(error), error_category()}; }

// The code of a refusal's text.
errc error_of(std::string_view refusal) noexcept;

}}}  // namespace hocket::redis

template <>
struct std::is_error_code_enum<hocket::redis::errc> : std::true_type {};
