// The errors of hocket::pg. docs/postgresql.md says which of them mean that a statement may have been carried out.
//
//   - An error of the server is its SQLSTATE: `error == pg::sqlstate("23505")`.
//   - A refusal or a failure of the client is a pg::errc: `error == pg::errc::answers_outstanding`.
//   - A lost connection is std::errc::connection_reset. Cancels and deadlines end a wait as every wait of hocket.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace pg {

// The category of SQLSTATEs. An SQLSTATE has five digits or capital letters; its value is their number in base 36.
const std::error_category& category() noexcept;
constexpr int value_of_sqlstate(std::string_view state) noexcept {
  int value = 0;
  for (const char letter : state) value = value * 36 + (letter >= 'A' ? letter - 'A' + 10 : letter - '0');
  return value;
}
inline std::error_code sqlstate(std::string_view state) noexcept { return {value_of_sqlstate(state), category()}; }

// The errors of the client itself.
enum class errc {
  // Refused, and nothing was sent:
  zero_byte = 1,        // a text, a name, a parameter or a connection string contains a zero byte
  too_many_parameters,  // more than 65,535
  answers_outstanding,  // an operation has ended without its answers: drain() first
  copying,              // a COPY has not ended: end it by native(), or drain()
  in_transaction,       // begin() inside of a transaction
  no_transaction,       // commit() or rollback() of a guard that has ended
  forked,               // the connection belongs to the parent process
  // The connection is broken:
  copy_in_pipeline,    // a statement of a pipeline was COPY. Other statements of it may have been carried out
  protocol_violation,  // the server has sent an answer that no statement asked for
  cancel_refused,      // drain(): all threads for cancel requests are busy
  // The transaction is over:
  rolled_back,  // commit(): a statement had failed, so the server has rolled back
  // No connection was made:
  invalid_conninfo,   // the connection string is malformed
  unknown_host,       // the name lookup has failed
  connect_timed_out,  // connect_timeout has passed for the last host. Not std::errc::timed_out: no deadline of the
                      // caller
  password_required,  // the server asks for a password, and there is none
  tls_failed,         // the TLS handshake has failed
  wrong_session,      // no host has the session that target_session_attrs demands
  connect_failed,     // another reason: see the text
};
// The category "hocket::pg", for std::error_code(value, error_category()).
const std::error_category& error_category() noexcept;
inline std::error_code make_error_code(errc error) noexcept { return {static_cast<int>(error), error_category()}; }

}}}  // namespace hocket::pg

template <>
struct std::is_error_code_enum<hocket::pg::errc> : std::true_type {};
