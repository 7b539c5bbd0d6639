// PostgreSQL for coroutines, over libpq's non-blocking interface: the coroutine waits, no thread does.
//
//   connection_pool<pg::connection> db(rt, pg::connector("host=127.0.0.1 dbname=app"), {.limit = 20});
//
//   task<result<int>> count_users(connection_pool<pg::connection>& db, std::string city) {
//     auto client = co_await or_return(within(1s, db.acquire()));
//     pg::rows rows = co_await or_return(client->query("select count(*) from users where city = $1", city));
//     co_return std::stoi(PQgetvalue(rows.get(), 0, 0));
//   }
//
// In a fiber: await(client->query(...)). `rows` owns a PGresult: read it by libpq's functions.
//
// Errors. If the server refuses a statement, the error is its SQLSTATE: `error == pg::sqlstate("23505")`. A refusal by
// the client is a pg::errc. connection::message() returns the text of the last error. A lost connection:
// connection_reset. No memory in libpq: not_enough_memory. docs/postgresql.md says which errors mean that a statement
// may have been carried out.
//
// States. A connection knows the answers that are outstanding, whatever has ended their operations. It never gives an
// answer to another operation: an operation on a connection in doubt is refused (pg::errc::answers_outstanding). Either
// drain() makes the connection idle again, or it is destroyed.
//
// Cancellation. If a cancel, a deadline or a kill ends an operation, the operation returns at once, and its connection
// is in doubt. A thread of the library, one of at most four, asks the server to cancel the statement. No code waits for
// that thread but drain(). If all four are busy, the server is not asked, and drain() fails.
//
// COPY. A query that is COPY returns a result with PGRES_COPY_IN or PGRES_COPY_OUT. The state is copying until the
// borrower has carried the COPY out by the functions of libpq, on native(), to the last PQgetResult(). Meanwhile
// operations are refused (pg::errc::copying). In a pipeline COPY breaks the connection (pg::errc::copy_in_pipeline).
//
// Notices of the server go to the log handler (set_log_handler). PQsetNoticeProcessor() on native() replaces that. Do
// not set a notice receiver: the client uses it.
//
// fork(). In a child the connections of the parent are broken. Every operation is refused (pg::errc::forked), and the
// destructor closes the child's descriptor and sends nothing.
//
// Thread safety. One coroutine at a time uses a connection. Each use may be on another thread.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/pg/error.hpp>
#include <hocket/pg/statement.hpp>
#include <hocket/pool/connection_state.hpp>
#include <array>
#include <chrono>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class pg_session;
}  // namespace detail

namespace pg {

class transaction;

// A connection to a server.
class connection {
 public:
  // Takes ownership of a handle that is connected and non-blocking. Throws bad_alloc; then it has not taken the handle.
  explicit connection(PGconn* handle);
  explicit connection(std::unique_ptr<detail::pg_session> session) noexcept;
  connection(connection&& other) noexcept;
  connection& operator=(connection&& other) noexcept;
  ~connection();

  // Runs one statement; `parameters` replace $1, $2 ... Without parameters `text` may hold several statements,
  // separated by semicolons: the result is the rows of the last statement.
  template <std::convertible_to<parameter>... Parameters>
  [[nodiscard]] task<result<rows>> query(std::string_view text, const Parameters&... parameters) {
    const std::array<parameter, sizeof...(Parameters)> values{parameter(parameters)...};
    return run({text, values});
  }
  [[nodiscard]] task<result<rows>> run(const statement& command);

  // For statements that run often: the server parses them once. A name is valid until its connection ends.
  //   db.on_create([](pg::connection& created) {
  //     return created.prepare("city", "select city from users where name = $1");
  //   });
  //   ...
  //   pg::rows rows = co_await or_return(client->execute("city", user));
  [[nodiscard]] task<result<void>> prepare(std::string name, std::string text);
  template <std::convertible_to<parameter>... Parameters>
  [[nodiscard]] task<result<rows>> execute(std::string_view name, const Parameters&... parameters) {
    const std::array<parameter, sizeof...(Parameters)> values{parameter(parameters)...};
    return run({name, values, true});
  }

  // Sends all statements in one trip. They are one transaction, unless they begin and commit their own. After a failed
  // statement the server skips the rest, and the result is the error of that statement.
  [[nodiscard]] task<result<std::vector<rows>>> pipeline(std::span<const statement> statements);

  // The state, by our bookkeeping. No system call. A transaction whose guard was destroyed is open until the next
  // operation or drain() has rolled it back. Never `changed`: the borrower knows what it has set.
  connection_state state() const noexcept;
  // Whether the state is idle and the server is there. Looks at the socket without waiting. Reads notices and pushed
  // messages that have arrived. False, if the server has closed or reset the connection, or has announced that.
  bool is_idle() noexcept;

  // Makes a connection in doubt idle again: asks the server to cancel what runs, reads and drops the answers, ends a
  // COPY, rolls a transaction back. After `limit`, and after every other error, a cancel included, the connection is
  // broken. Does not undo SET, LISTEN, advisory locks and temporary tables: query("discard all") does.
  [[nodiscard]] task<result<void>> drain(std::chrono::nanoseconds limit = std::chrono::seconds(5));

  // Whether the server answers: sends an empty statement. connection_pool calls it, if its option ping_after is set.
  [[nodiscard]] task<result<void>> ping();

  // libpq's handle, for its other functions.
  PGconn* native() const noexcept;
  // The text of the last error, from the server, libpq or hocket. Empty: no error.
  std::string_view message() const noexcept;

 private:
  friend task<result<transaction>> begin(connection& db, std::string_view modes);

  std::unique_ptr<detail::pg_session> session_;
};

// Connects to a server. `conninfo` is a connection string or a URI. If the connection fails, the texts of all attempts
// are written to `message`, which must outlive the task.
//
// Hosts. A connection string may name several hosts. They are tried in order, and so is each address of a name, until
// one accepts. A refusal by a server (a wrong password, no such database) ends the attempts, unless the server is
// starting up (57P03).
//
// Name lookups never run on the loop, nor on the pool of blocking(). A numeric host and a unix socket need none.
// `connect_timeout` (seconds) limits the lookup of each name, and the attempt at each address.
//
// Errors. The SQLSTATE of the server: 28P01 is a wrong password, 57P03 a server that is starting up, 3D000 an unknown
// database, 53300 too many connections. The error of the system: connection_refused, no_such_file_or_directory (a unix
// socket), host_unreachable, connection_reset. pg::errc: invalid_conninfo, unknown_host, connect_timed_out,
// password_required, tls_failed, wrong_session, connect_failed, zero_byte. It is the error of the last attempt.
[[nodiscard]] task<result<connection>> connect(std::string conninfo, std::string* message = nullptr);

// A callable that connects, for connection_pool. The text of a failure goes to the log handler. Any thread may call it.
//   connection_pool<pg::connection> db(rt, pg::connector("host=db.internal dbname=app"));
class connector {
 public:
  explicit connector(std::string conninfo) noexcept : conninfo_(std::move(conninfo)) {}
  [[nodiscard]] task<result<connection>> operator()() const;

 private:
  std::string conninfo_;
};

// For pool_options::check: client.is_idle().
bool is_idle(connection& client);

}  // namespace pg
}}  // namespace hocket
