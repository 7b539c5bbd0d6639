#include <hocket/pg/transaction.hpp>

#include <hocket/coro/or_return.hpp>

#include "answers.hpp"
#include "drain.hpp"
#include "owned_statement.hpp"
#include "session.hpp"

#include <cstring>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace pg {
namespace {

using namespace hocket::detail;

// One statement that is no COPY. A failure of the server is a value, as rows.
task<result<rows>> exchange_command(pg_session& db, const char* command) {
  PGconn* const handle = db.handle();
  pg_exchange exchange(db);
  if (PQsendQuery(handle, command) == 0) {
    exchange.complete();
    co_return failure(error_of(handle));
  }
  if (PQflush(handle) != 0) co_await or_return(flush(handle));
  rows answer = co_await or_return(last_result(handle));
  if (!answer) co_return failure(error_of(handle));
  exchange.complete(is_copy(answer));
  co_return answer;
}

task<result<void>> begin_owned(pg_session& db, std::string command) {
  if (const std::error_code error = db.refusal()) co_return db.fail(error);
  if (has_zero_byte(command)) co_return db.fail(make_error_code(errc::zero_byte));
  if (db.must_roll_back()) co_await or_return(roll_back(db));
  if (db.is_in_transaction()) co_return db.fail(make_error_code(errc::in_transaction));
  db.end_guard();
  const rows answer = co_await or_return(exchange_command(db, command.c_str()));
  if (is_failure(answer)) co_return failure(error_of(db.handle(), answer));
  co_return {};
}

}  // namespace

transaction::transaction(pg_session& session) noexcept : session_(&session) { session.set_guard(&session_); }
transaction::transaction(transaction&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {
  if (session_) session_->set_guard(&session_);
}
transaction& transaction::operator=(transaction&& other) noexcept {
  if (this == &other) return *this;
  if (session_) session_->drop_guard();
  session_ = std::exchange(other.session_, nullptr);
  if (session_) session_->set_guard(&session_);
  return *this;
}
transaction::~transaction() {
  if (session_) session_->drop_guard();
}

task<result<void>> transaction::commit() { return end(*this, "COMMIT"); }
task<result<void>> transaction::rollback() { return end(*this, "ROLLBACK"); }

// The server answers COMMIT in a failed transaction by the tag ROLLBACK.
task<result<void>> transaction::end(transaction& self, const char* command) {
  if (!self.session_) co_return failure(make_error_code(errc::no_transaction));
  pg_session& db = *self.session_;
  if (const std::error_code error = db.refusal()) co_return db.fail(error);
  if (!db.is_in_transaction()) {
    db.end_guard();
    co_return db.fail(make_error_code(errc::no_transaction));
  }
  const rows answer = co_await or_return(exchange_command(db, command));
  if (!db.is_in_transaction()) db.end_guard();
  if (is_failure(answer)) co_return failure(error_of(db.handle(), answer));
  if (std::strcmp(PQcmdStatus(answer.get()), command) != 0) co_return db.fail(make_error_code(errc::rolled_back));
  co_return {};
}

task<result<transaction>> transaction::open(pg_session& db, std::string command) {
  co_await or_return(begin_owned(db, std::move(command)));
  co_return transaction(db);
}

task<result<transaction>> begin(connection& db, std::string_view modes) {
  std::string command = "BEGIN";
  if (!modes.empty()) command.append(" ").append(modes);
  return transaction::open(*db.session_, std::move(command));
}

}}}  // namespace hocket::pg
