// A connection string, read by libpq.
//
// libpq looks names up inside of PQconnectPoll(), which would block the loop. So hocket looks names up itself, and
// gives libpq one host with one numeric address at a time. For that it needs the list of hosts that is in effect: from
// the string, a service file, the environment or the defaults. PQconninfo() returns it, but only for a PGconn.
// Therefore read_conninfo() starts a connection with a value of channel_binding that libpq refuses before it connects.
#pragma once
#include <hocket/base/result.hpp>
#include <chrono>
#include <postgresql/libpq-fe.h>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// One host of a connection string. Empty: not given.
struct pg_host {
  std::string name;     // a name, an address, or the folder of a unix socket
  std::string address;  // of hostaddr
  std::string port;

  bool is_unix() const noexcept { return address.empty() && (name.empty() || name[0] == '/' || name[0] == '@'); }
};

struct conninfo {
  std::string text;
  std::vector<pg_host> hosts;            // at least one
  std::chrono::seconds connect_timeout;  // 0: none
  std::string target_session_attributes;
};

// Errors: pg::errc::invalid_conninfo, zero_byte. Appends the text of the error to `message`.
result<conninfo> read_conninfo(std::string text, std::string& message);

// PQconnectStart() for one host of the connection string. `session_attributes` replaces the string's. Null: no memory.
PGconn* start_connect(const conninfo& all, const pg_host& host, const std::string& session_attributes) noexcept;

}}}  // namespace hocket::detail
