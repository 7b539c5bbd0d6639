// PostgreSQL for coroutines, over libpq's non-blocking interface: the coroutine waits, no thread does.
//
//   pool<pg::connection> db({.limit = 20, .check = pg::is_idle});
//
//   task<result<int>> count_users(pool<pg::connection>& db, std::string city) {
//     auto client = co_await or_return(within(1s, db.borrow()));
//     if (!client) client.emplace(co_await or_return(pg::connect("host=127.0.0.1 dbname=app")));
//     pg::rows rows = co_await or_return(client->query("select count(*) from users where city = $1", city));
//     co_return std::stoi(PQgetvalue(rows.get(), 0, 0));
//   }
//
// In a fiber: await(client->query(...)). `rows` owns a PGresult: read it by libpq's functions.
//
// Errors. If the server refuses a statement, the error is its SQLSTATE in pg::category(): `error ==
// pg::sqlstate("23505")`; connection::message() returns the server's text. A lost connection: connection_reset. No
// memory in libpq: not_enough_memory.
//
// Cancellation. A cancel or a deadline ends a query with operation_canceled or timed_out. First hocket asks the
// server to cancel the query, on the pool of blocking(), because libpq opens a connection for that. The answer is still
// outstanding, so pg::is_idle() is false and a pool discards the connection. A kill destroys the coroutine's objects
// without a request to the server.
//
// Thread safety. One coroutine at a time uses a connection. Each use may be on another thread.
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/base/detail/text_list.hpp>
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <array>
#include <concepts>
#include <memory>
#include <postgresql/libpq-fe.h>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace pg {

// The category of SQLSTATEs. An SQLSTATE has five digits or capital letters; its value is their number in base 36.
const std::error_category& category() noexcept;
constexpr int value_of_sqlstate(std::string_view state) noexcept {
  int value = 0;
  for (const char letter : state) value = value * 36 + (letter >= 'A' ? letter - 'A' + 10 : letter - '0');
  return value;
}
inline std::error_code sqlstate(std::string_view state) noexcept { return {value_of_sqlstate(state), category()}; }

using rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

// A statement. It refers to texts of the caller, which run() and pipeline() copy before they return.
struct statement {
  std::string_view text{};   // with $1, $2 ... for the parameters
  text_list parameters{};    // as text
  bool is_prepared = false;  // `text` is the name from prepare()
};
static_assert(detail::owns_nothing<statement>);

// A connection to a server.
class connection {
 public:
  // Takes ownership of a handle that is connected and non-blocking.
  explicit connection(PGconn* handle) noexcept : handle_(handle, &PQfinish) {}

  // Runs one statement; `parameters` replace $1, $2 ... Without parameters `text` may hold several statements,
  // separated by semicolons: the result is the rows of the last statement.
  template <std::convertible_to<std::string_view>... Parameters>
  [[nodiscard]] task<result<rows>> query(std::string_view text, const Parameters&... parameters) {
    const std::array<std::string_view, sizeof...(Parameters)> values{std::string_view(parameters)...};
    return run({text, values});
  }
  [[nodiscard]] task<result<rows>> run(const statement& command);

  // For statements that run often: the server parses them once. A name is valid until its connection ends.
  //   if (!client) {
  //     client.emplace(co_await or_return(pg::connect(conninfo)));
  //     co_await or_return(client->prepare("city", "select city from users where name = $1"));
  //   }
  //   pg::rows rows = co_await or_return(client->execute("city", user));
  [[nodiscard]] task<result<void>> prepare(std::string name, std::string text);
  template <std::convertible_to<std::string_view>... Parameters>
  [[nodiscard]] task<result<rows>> execute(std::string_view name, const Parameters&... parameters) {
    const std::array<std::string_view, sizeof...(Parameters)> values{std::string_view(parameters)...};
    return run({name, values, true});
  }

  // Sends all statements in one trip. They are one transaction, unless they begin and commit their own. After a failed
  // statement the server skips the rest, and the result is the error of that statement.
  [[nodiscard]] task<result<std::vector<rows>>> pipeline(std::span<const statement> statements);

  // libpq's handle, for its other functions.
  PGconn* native() const noexcept { return handle_.get(); }
  // The text of the last error, from the server or libpq. Empty: no error.
  std::string_view message() const noexcept { return PQerrorMessage(handle_.get()); }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> handle_;
};

// Connects to a server. `conninfo` is a connection string or a URI. The host name is looked up on the pool of
// blocking(). If libpq or the server refuses, the error is connection_refused and its text is written to `message`,
// which must outlive the task.
[[nodiscard]] task<result<connection>> connect(std::string conninfo, std::string* message = nullptr);

// For pool_options::check: connected, outside of a transaction, no answer outstanding.
bool is_idle(connection& client);

}}}  // namespace hocket::pg
