// The operations of a connection. Each one asks the session whether it may begin, rolls back what a guard has left
// open, and then is one exchange.
#include <hocket/pg/connection.hpp>

#include <hocket/coro/or_return.hpp>

#include "answers.hpp"
#include "drain.hpp"
#include "owned_statement.hpp"
#include "session.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace pg {
namespace {

using namespace hocket::detail;

// libpq has refused to send: it has no memory, or no connection. The messages that it had put into its buffer before,
// such as a Parse without its Bind, would be sent with the next statement. So the connection is broken.
failure send_failure(pg_session& db) {
  const std::error_code error = error_of(db.handle());
  static_cast<void>(db.break_off(error));
  return failure(error);
}

// The answer to what was sent. A failure of the server is an error.
task<result<rows>> answer_of(pg_session& db) {
  PGconn* const handle = db.handle();
  if (PQflush(handle) != 0) co_await or_return(flush(handle));
  rows answer = co_await or_return(last_result(handle));
  if (!answer) co_return failure(error_of(handle));
  co_return answer;
}

task<result<rows>> run_owned(pg_session& db, owned_statement command) {
  if (const std::error_code error = db.refusal()) co_return db.fail(error);
  if (const std::error_code error = command.refusal()) co_return db.fail(error);
  if (db.must_roll_back()) co_await or_return(roll_back(db));
  pg_exchange exchange(db);
  if (!command.send(db.handle())) {
    exchange.complete();
    co_return send_failure(db);
  }
  rows answer = co_await or_return(answer_of(db));
  exchange.complete(is_copy(answer));
  if (is_failure(answer)) co_return failure(error_of(db.handle(), answer));
  co_return answer;
}

task<result<void>> ping_server(pg_session& db) {
  auto empty = run_owned(db, owned_statement(statement{}));
  co_await or_return(std::move(empty));
  co_return {};
}

task<result<void>> prepare_owned(pg_session& db, std::string name, std::string text) {
  if (const std::error_code error = db.refusal()) co_return db.fail(error);
  if (has_zero_byte(name) || has_zero_byte(text)) co_return db.fail(make_error_code(errc::zero_byte));
  if (db.must_roll_back()) co_await or_return(roll_back(db));
  pg_exchange exchange(db);
  if (PQsendPrepare(db.handle(), name.c_str(), text.c_str(), 0, nullptr) == 0) {
    exchange.complete();
    co_return send_failure(db);
  }
  const rows answer = co_await or_return(answer_of(db));
  exchange.complete();
  if (is_failure(answer)) co_return failure(error_of(db.handle(), answer));
  co_return {};
}

// --- pipelines

// Puts all statements into libpq's buffer.
bool send_all(PGconn* handle, const std::vector<owned_statement>& all) {
  if (PQenterPipelineMode(handle) == 0) return false;
  for (const owned_statement& each : all)
    if (!each.send(handle)) return false;
  return PQpipelineSync(handle) != 0;
}

// The answers of a pipeline, up to its end.
task<result<std::vector<rows>>> answers_of(pg_session& db, std::size_t count) {
  PGconn* const handle = db.handle();
  std::vector<rows> all;
  std::error_code first_error{};
  if (PQflush(handle) != 0) co_await or_return(flush(handle));
  for (std::size_t i = 0; i < count; ++i) {
    rows answer = co_await or_return(last_result(handle));
    if (!answer) co_return failure(error_of(handle));
    if (is_copy(answer)) co_return db.break_off(make_error_code(errc::copy_in_pipeline));
    if (!is_failure(answer)) all.push_back(std::move(answer));
    else if (!first_error) first_error = error_of(handle, answer);
  }
  const rows end = co_await or_return(next_result(handle));
  if (PQresultStatus(end.get()) != PGRES_PIPELINE_SYNC || PQexitPipelineMode(handle) == 0)
    co_return db.break_off(make_error_code(errc::protocol_violation));
  if (first_error) co_return failure(first_error);
  co_return all;
}

task<result<std::vector<rows>>> run_all(pg_session& db, std::vector<owned_statement> all) {
  if (const std::error_code error = db.refusal()) co_return db.fail(error);
  for (const owned_statement& each : all)
    if (const std::error_code error = each.refusal()) co_return db.fail(error);
  if (db.must_roll_back()) co_await or_return(roll_back(db));
  pg_exchange exchange(db);
  if (!send_all(db.handle(), all)) co_return send_failure(db);
  auto answers = co_await answers_of(db, all.size());
  if (PQpipelineStatus(db.handle()) == PQ_PIPELINE_OFF) exchange.complete();
  co_return answers;
}

}  // namespace

connection::connection(PGconn* handle) : session_(std::make_unique<pg_session>(handle)) {}
connection::connection(std::unique_ptr<pg_session> session) noexcept : session_(std::move(session)) {}
connection::connection(connection&& other) noexcept = default;
connection& connection::operator=(connection&& other) noexcept = default;
connection::~connection() = default;

task<result<rows>> connection::run(const statement& command) { return run_owned(*session_, owned_statement(command)); }
task<result<void>> connection::prepare(std::string name, std::string text) {
  return prepare_owned(*session_, std::move(name), std::move(text));
}
task<result<std::vector<rows>>> connection::pipeline(std::span<const statement> statements) {
  return run_all(*session_, std::vector<owned_statement>(statements.begin(), statements.end()));
}

connection_state connection::state() const noexcept { return session_->state(); }
bool connection::is_idle() noexcept { return session_->is_idle(); }
task<result<void>> connection::drain(std::chrono::nanoseconds limit) { return drain_within(*session_, limit); }
task<result<void>> connection::ping() { return ping_server(*session_); }
PGconn* connection::native() const noexcept { return session_->handle(); }
std::string_view connection::message() const noexcept { return session_->message(); }

bool is_idle(connection& client) { return client.is_idle(); }

}}}  // namespace hocket::pg
