// A guard for a transaction.
//
//   task<result<void>> transfer(pg::connection& db, std::string from, std::string to) {
//     pg::transaction open = co_await or_return(pg::begin(db));
//     co_await or_return(db.query("update accounts set balance = balance - 1 where name = $1", from));
//     co_await or_return(db.query("update accounts set balance = balance + 1 where name = $1", to));
//     co_return co_await open.commit();
//   }
//
// The destructor never waits. If neither commit() nor rollback() has ended the transaction, the destructor marks the
// connection. Then the next operation on the connection first sends ROLLBACK, and so does drain(). The guard may
// outlive its connection.
//
// If a drain, or a statement of the holder, has ended the transaction, the guard has none any more: commit() fails with
// pg::errc::no_transaction.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/pg/connection.hpp>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace pg {

// An open transaction. Move-only. One coroutine at a time uses the guard and its connection.
class [[nodiscard]] transaction {
 public:
  transaction(transaction&& other) noexcept;
  transaction& operator=(transaction&& other) noexcept;
  ~transaction();

  // Whether the guard has a transaction to end.
  explicit operator bool() const noexcept { return session_ != nullptr; }

  // Ends the transaction. The guard must outlive the task. If the wait ends early, the guard keeps the transaction: the
  // server may have committed or not, and an open transaction is rolled back later.
  // Errors of commit(): pg::errc::rolled_back, if a statement had failed; the SQLSTATE of a deferred constraint. Then
  // the transaction is over, too. Errors of both: pg::errc::no_transaction, and the errors of connection::query().
  [[nodiscard]] task<result<void>> commit();
  [[nodiscard]] task<result<void>> rollback();

 private:
  friend class detail::pg_session;
  friend task<result<transaction>> begin(connection& db, std::string_view modes);
  explicit transaction(detail::pg_session& session) noexcept;
  static task<result<transaction>> open(detail::pg_session& session, std::string command);
  static task<result<void>> end(transaction& self, const char* command);

  detail::pg_session* session_;  // null: the transaction is over. The session refers back to the guard
};

// Begins a transaction. `modes` is copied before begin() returns: "isolation level serializable". Errors:
// pg::errc::in_transaction, and the errors of connection::query().
[[nodiscard]] task<result<transaction>> begin(connection& db, std::string_view modes = {});

}}}  // namespace hocket::pg
