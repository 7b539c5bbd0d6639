// Connecting: every host of the connection string in order, every address of a host in order, until one accepts. libpq
// gets one numeric address at a time, so it never looks up a name (conninfo.hpp).
//
// A server refuses by an ErrorResponse. libpq keeps its SQLSTATE for itself, so the handle is verbose while it
// connects: then the text is "FATAL:  28P01: password authentication failed ...".
#include <hocket/base/fatal.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/net/seam/host_lookup.hpp>
#include <hocket/pg/connection.hpp>
#include <hocket/sync/pool.hpp>

#include "answers.hpp"
#include "conninfo.hpp"

#include <cerrno>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The shared part of the attempts of one connect(). Not in the anonymous namespace: a template's frame refers to it.
struct connect_attempts {
  const conninfo* all;
  std::string session_attributes;
  std::string* message;
};

}  // namespace detail

namespace pg {
namespace {

using namespace hocket::detail;

// --- errors

bool is_sqlstate(std::string_view text) noexcept {
  for (const char c : text)
    if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z')) return false;
  return text.size() == 5;
}

// The last SQLSTATE of a verbose text: "FATAL:  28P01: ...". Empty: none.
std::string_view find_sqlstate(std::string_view text) noexcept {
  constexpr std::string_view before = ":  ";
  for (std::size_t i = text.rfind(before); i != std::string_view::npos;
       i = i == 0 ? i - 1 : text.rfind(before, i - 1)) {
    const std::string_view state = text.substr(i + before.size(), 5);
    if (is_sqlstate(state) && text.substr(i + before.size() + 5, 1) == ":") return state;
    if (i == 0) break;
  }
  return {};
}

// libpq reports an error of the system by its text alone.
std::error_code system_error_in(std::string_view text) {
  for (const int error : {ECONNREFUSED, ENOENT, EACCES, EHOSTUNREACH, ENETUNREACH, ECONNRESET, EPIPE, EADDRNOTAVAIL}) {
    const std::error_code code(error, std::system_category());
    if (text.find(code.message()) != std::string_view::npos) return code;
  }
  if (text.find(std::error_code(ETIMEDOUT, std::system_category()).message()) != std::string_view::npos)
    return hocket::make_error_code(hocket::errc::peer_lost);
  return {};
}

// `phase` is the state before libpq has failed.
std::error_code connect_error(PGconn* handle, ConnStatusType phase, const std::string& session_attributes) {
  const std::string_view text = PQerrorMessage(handle);
  if (const std::string_view state = find_sqlstate(text); !state.empty()) return sqlstate(state);
  if (PQconnectionNeedsPassword(handle) != 0) return make_error_code(errc::password_required);
  if (const std::error_code error = system_error_in(text)) return error;
  if (PQparameterStatus(handle, "server_version") && session_attributes != "any")
    return make_error_code(errc::wrong_session);
  if (phase == CONNECTION_SSL_STARTUP) return make_error_code(errc::tls_failed);
  if (text.find("server closed the connection unexpectedly") != std::string_view::npos)
    return std::make_error_code(std::errc::connection_reset);
  return make_error_code(errc::connect_failed);
}

// libpq has not begun to connect, or the system has refused at once.
std::error_code start_error(PGconn* handle) {
  if (const std::error_code error = system_error_in(PQerrorMessage(handle))) return error;
  return make_error_code(errc::invalid_conninfo);
}

// A verbose text ends with the place in the server's source.
void append_text(std::string& message, std::string_view text) {
  if (const std::size_t location = text.find("\nLOCATION:"); location != std::string_view::npos)
    text = text.substr(0, location);
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (!message.empty()) message += '\n';
  message += text;
}

// Whether the next host is tried. A server that refuses ends the attempts, unless it is starting up.
bool is_final(std::error_code error) noexcept {
  return (error.category() == category() && error != sqlstate("57P03")) || is_ended();
}

// --- attempts

task<result<void>> poll_connect(PGconn* handle, const std::string& session_attributes) {
  ConnStatusType phase = PQstatus(handle);
  if (phase == CONNECTION_BAD) co_return failure(start_error(handle));
  for (auto next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK; next = PQconnectPoll(handle)) {
    if (next == PGRES_POLLING_FAILED) co_return failure(connect_error(handle, phase, session_attributes));
    phase = PQstatus(handle);
    co_await or_return(wait_for(handle, next == PGRES_POLLING_READING ? POLLIN : POLLOUT));
  }
  PQsetErrorVerbosity(handle, PQERRORS_DEFAULT);
  if (PQsetnonblocking(handle, 1) != 0) co_return failure(error_of(handle));
  co_return {};
}

// Awaits a task for at most connect_timeout. The end of the caller's own wait stays what it is.
template <class T>
task<result<T>> within_connect_timeout(const connect_attempts& attempts, const std::string& name,
                                       task<result<T>> work) {
  if (attempts.all->connect_timeout.count() == 0) co_return co_await std::move(work);
  auto outcome = co_await within(attempts.all->connect_timeout, std::move(work));
  if (outcome || outcome.error() != std::errc::timed_out || is_ended()) co_return outcome;
  append_text(*attempts.message, "connection to \"" + name + "\" failed: timeout expired");
  co_return failure(make_error_code(errc::connect_timed_out));
}

task<result<connection>> connect_to_address(const connect_attempts& attempts, const pg_host& host) {
  std::unique_ptr<PGconn, decltype(&PQfinish)> owner(start_connect(*attempts.all, host, attempts.session_attributes),
                                                     &PQfinish);
  PGconn* const handle = owner.get();
  if (!handle) co_return failure(std::make_error_code(std::errc::not_enough_memory));
  connection client(handle);
  static_cast<void>(owner.release());
  PQsetErrorVerbosity(handle, PQERRORS_VERBOSE);
  auto outcome = co_await within_connect_timeout(attempts, host.name.empty() ? host.address : host.name,
                                                 poll_connect(handle, attempts.session_attributes));
  if (outcome) co_return client;
  if (PQstatus(handle) == CONNECTION_BAD) append_text(*attempts.message, PQerrorMessage(handle));
  co_return failure(outcome.error());
}

// The form of hostaddr: without a port, with the scope of a link-local address.
result<std::vector<std::string>> numeric_texts(const std::vector<socket_address>& addresses) {
  std::vector<std::string> texts;
  for (const socket_address& address : addresses) {
    char text[NI_MAXHOST];
    const auto* const bytes = static_cast<const sockaddr*>(address.data());
    const auto size = static_cast<socklen_t>(address.size());
    if (const int error = ::getnameinfo(bytes, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST))
      return failure(std::error_code(error, lookup_category()));
    texts.emplace_back(text);
  }
  return texts;
}

// libpq knows no "unix:" of resolve_host(): such a name is unknown.
task<result<std::vector<std::string>>> resolve_name(const connect_attempts& attempts, const std::string& name) {
  if (name.starts_with("unix:")) co_return failure(std::error_code(EAI_NONAME, lookup_category()));
  const auto addresses = co_await or_return(within_connect_timeout(attempts, name, resolve_host(name, 0)));
  co_return numeric_texts(addresses);
}

task<result<std::vector<std::string>>> addresses_of(const connect_attempts& attempts, const pg_host& host) {
  if (!host.address.empty() || host.is_unix()) co_return std::vector<std::string>{host.address};
  auto addresses = co_await resolve_name(attempts, host.name);
  if (addresses || addresses.error().category() != lookup_category()) co_return addresses;
  append_text(*attempts.message, "could not look up \"" + host.name + "\": " + addresses.error().message());
  co_return failure(make_error_code(errc::unknown_host));
}

task<result<connection>> connect_to_host(const connect_attempts& attempts, pg_host host) {
  const auto addresses = co_await or_return(addresses_of(attempts, host));
  for (std::size_t i = 0;; ++i) {
    host.address = addresses[i];
    auto client = co_await connect_to_address(attempts, host);
    if (client || is_final(client.error()) || i + 1 == addresses.size()) co_return client;
  }
}

task<result<connection>> connect_to_any(const connect_attempts& attempts) {
  const auto& hosts = attempts.all->hosts;
  for (std::size_t i = 0;; ++i) {
    auto client = co_await connect_to_host(attempts, hosts[i]);
    if (client || is_final(client.error()) || i + 1 == hosts.size()) co_return client;
  }
}

// libpq tries all hosts for a standby, and then again for any session. It gets one host at a time here.
task<result<connection>> connect_all(const conninfo& all, std::string& message) {
  const bool prefers_standby = all.target_session_attributes == "prefer-standby";
  const connect_attempts first{&all, prefers_standby ? "standby" : all.target_session_attributes, &message};
  auto client = co_await connect_to_any(first);
  if (client || !prefers_standby || is_final(client.error())) co_return client;
  const connect_attempts second{&all, "any", &message};
  co_return co_await connect_to_any(second);
}

task<result<connection>> connect_and_log(std::string text) {
  std::string message;
  auto client = co_await connect(std::move(text), &message);
  if (!client && !message.empty()) notice(("PostgreSQL: " + message).c_str());
  co_return client;
}

}  // namespace

task<result<connection>> connect(std::string text, std::string* message) {
  std::string own_message;
  std::string& written = message ? *message : own_message;
  written.clear();
  const conninfo all = co_await or_return(read_conninfo(std::move(text), written));
  co_return co_await connect_all(all, written);
}

task<result<connection>> connector::operator()() const { return connect_and_log(conninfo_); }

}  // namespace pg
}}  // namespace hocket
