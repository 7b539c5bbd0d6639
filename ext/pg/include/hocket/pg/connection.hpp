// PostgreSQL for coroutines, over libpq's non-blocking interface: the coroutine waits, no thread does.
//
//   pool<pg::connection> db({.limit = 20, .check = pg::is_idle});
//
//   task<result<int>> count_users(pool<pg::connection>& db, std::string city) {
//     auto lent = co_await or_return(within(1s, db.borrow()));
//     if (!lent) lent.emplace(co_await or_return(pg::connect("host=127.0.0.1 dbname=app")));
//     pg::rows found = co_await or_return(lent->query("select count(*) from users where city = $1", city));
//     co_return std::stoi(PQgetvalue(found.get(), 0, 0));
//   }
//
// In a fiber: await(lent->query(...)). `rows` owns a PGresult: read it by libpq's functions.
//
// Errors. If the server refuses a statement, the error is its SQLSTATE in pg::category(): `error ==
// pg::sqlstate("23505")`; connection::message() returns the server's text. A lost connection: connection_reset. No
// memory in libpq: not_enough_memory.
//
// Ends of a wait. A cancel or a deadline ends a query with operation_canceled or timed_out. First the server is asked
// to cancel the query, on the pool of blocking(), because libpq opens a connection for that. The answer is still
// outstanding, so pg::is_idle() is false and a pool discards the connection. A kill destroys what the coroutine owns;
// the server is not asked.
//
// Threads. One coroutine at a time uses a connection. Each use may be on another thread.
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

// The category of SQLSTATEs. An SQLSTATE is five digits or capital letters; its value is that number in base 36.
const std::error_category& category() noexcept;
constexpr int value_of_sqlstate(std::string_view state) noexcept {
  int value = 0;
  for (const char letter : state) value = value * 36 + (letter >= 'A' ? letter - 'A' + 10 : letter - '0');
  return value;
}
inline std::error_code sqlstate(std::string_view state) noexcept { return {value_of_sqlstate(state), category()}; }

using rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

// Refers to texts of the caller, which run() and pipeline() copy before they return.
struct statement {
  std::string_view text{};   // with $1, $2 ... for the parameters
  text_list parameters{};    // as text
  bool is_prepared = false;  // then `text` is the name that prepare() got
};
static_assert(detail::owns_nothing<statement>);

class connection {
 public:
  explicit connection(PGconn* own) noexcept : own_(own, &PQfinish) {}  // connected, and non-blocking

  // Runs one statement; `parameters` replace $1, $2 ... Without parameters `text` may hold several statements,
  // separated by semicolons: the result is the rows of the last.
  template <std::convertible_to<std::string_view>... Parameters>
  [[nodiscard]] task<result<rows>> query(std::string_view text, const Parameters&... parameters) {
    const std::array<std::string_view, sizeof...(Parameters)> values{std::string_view(parameters)...};
    return run({text, values});
  }
  [[nodiscard]] task<result<rows>> run(const statement& command);

  // For statements that are run often: the server parses them once. A name is valid until its connection ends.
  //   if (!lent) {
  //     lent.emplace(co_await or_return(pg::connect(where)));
  //     co_await or_return(lent->prepare("city", "select city from users where name = $1"));
  //   }
  //   pg::rows found = co_await or_return(lent->execute("city", user));
  [[nodiscard]] task<result<void>> prepare(std::string name, std::string text);
  template <std::convertible_to<std::string_view>... Parameters>
  [[nodiscard]] task<result<rows>> execute(std::string_view name, const Parameters&... parameters) {
    const std::array<std::string_view, sizeof...(Parameters)> values{std::string_view(parameters)...};
    return run({name, values, true});
  }

  // Sends all statements in one trip. They are one transaction, unless they begin and commit their own. After a
  // statement has failed the server skips the rest, and the error is the failed statement's.
  [[nodiscard]] task<result<std::vector<rows>>> pipeline(std::span<const statement> all);

  // libpq's handle, for its other functions.
  PGconn* native() const noexcept { return own_.get(); }
  // The last error in the words of the server or libpq. Empty: no error.
  std::string_view message() const noexcept { return PQerrorMessage(own_.get()); }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> own_;
};

// `where` is a connection string or a URI. The host name is looked up on the pool of blocking(). If libpq or the server
// refuses, the error is connection_refused and its text is written to `why`, which must outlive the task.
[[nodiscard]] task<result<connection>> connect(std::string where, std::string* why = nullptr);

// For pool_options::check: connected, outside of a transaction, no answer outstanding.
bool is_idle(connection& one);

}}}  // namespace hocket::pg
