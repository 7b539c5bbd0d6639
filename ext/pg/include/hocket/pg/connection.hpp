// PostgreSQL for coroutines, over libpq's interface that does not block: the coroutine waits, no thread does.
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
// In a fiber: await(lent->query(...)). Rows are libpq's, owned: all of its functions read them.
//
// Errors. What the server refuses: an error of pg::category() whose value is the SQLSTATE, so `error ==
// pg::sqlstate("23505")`; connection::message() has the server's words. A connection that is lost: connection_reset. No
// memory in libpq: not_enough_memory.
//
// Ends of a wait. A cancel or a deadline ends a query with operation_canceled or timed_out, after the server has been
// asked to cancel it (on the pool of blocking(): libpq connects anew for that). The answer is still to come, so the
// connection is not idle, and pg::is_idle() has a pool discard it. A kill destroys what the coroutine holds; the server
// is not asked.
//
// Threads: one coroutine at a time uses a connection. It may wait on another thread than before.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <concepts>
#include <memory>
#include <postgresql/libpq-fe.h>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace hocket::inline HOCKET_ABI::pg {

// Of SQLSTATEs: five digits and capital letters, as one number.
const std::error_category& category() noexcept;
constexpr int value_of_sqlstate(std::string_view state) noexcept {
  int value = 0;
  for (const char letter : state) value = value * 36 + (letter >= 'A' ? letter - 'A' + 10 : letter - '0');
  return value;
}
inline std::error_code sqlstate(std::string_view state) noexcept { return {value_of_sqlstate(state), category()}; }

using rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

struct statement {
  std::string text;                       // with $1, $2 ... for the parameters
  std::vector<std::string> parameters{};  // as text
  bool is_prepared = false;               // then `text` is the name that prepare() has given it
};

class connection {
 public:
  explicit connection(PGconn* own) noexcept : own_(own, &PQfinish) {}  // connected, and non-blocking

  // One statement; without parameters several, separated by semicolons: then the rows of the last. `parameters`,
  // strings, stand for $1, $2 ...
  template <std::convertible_to<std::string_view>... Parameters>
  [[nodiscard]] task<result<rows>> query(std::string_view text, const Parameters&... parameters) {
    return run(statement{std::string(text), {std::string(std::string_view(parameters))...}});
  }
  [[nodiscard]] task<result<rows>> run(statement what);

  // For statements that are run often: the server parses and plans them once. A name is the connection's, to its end.
  //   if (!lent) {
  //     lent.emplace(co_await or_return(pg::connect(where)));
  //     co_await or_return(lent->prepare("city", "select city from users where name = $1"));
  //   }
  //   pg::rows found = co_await or_return(lent->execute("city", user));
  [[nodiscard]] task<result<void>> prepare(std::string name, std::string text);
  template <std::convertible_to<std::string_view>... Parameters>
  [[nodiscard]] task<result<rows>> execute(std::string_view name, const Parameters&... parameters) {
    return run(statement{std::string(name), {std::string(std::string_view(parameters))...}, true});
  }

  // All at once, in one transaction unless they say otherwise: one trip to the server. After the first that fails the
  // others are not carried out, and the error is that one's.
  [[nodiscard]] task<result<std::vector<rows>>> pipeline(std::vector<statement> all);

  // libpq's own, for whatever else it offers.
  PGconn* native() const noexcept { return own_.get(); }
  // What the server or libpq said last. Empty if nothing is wrong.
  std::string_view message() const noexcept { return PQerrorMessage(own_.get()); }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> own_;
};

// `where`: a connection string or a URI. The name of the host is looked up on the pool of blocking(). Whatever libpq or
// the server refuses is connection_refused; the words are written to `why`, which outlives the task.
[[nodiscard]] task<result<connection>> connect(std::string where, std::string* why = nullptr);

// For pool_options::check: it is connected, in no transaction, and no answer is to come.
bool is_idle(connection& one);

}  // namespace hocket::inline HOCKET_ABI::pg
