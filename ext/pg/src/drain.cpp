#include "drain.hpp"

#include <hocket/coro/or_return.hpp>
#include <hocket/coro/timeout_task.hpp>

#include "answers.hpp"

#include <poll.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
// Not in the anonymous namespace: a frame of g++ with a member of that is refused in a unity build.
// Breaks the session off, unless the drain has succeeded: whatever ends the drain, the session is not drained again.
class pg_drain_guard {
 public:
  explicit pg_drain_guard(pg_session& db) noexcept : db_(db) {}
  pg_drain_guard(const pg_drain_guard&) = delete;
  pg_drain_guard& operator=(const pg_drain_guard&) = delete;
  ~pg_drain_guard() {
    if (!is_done_) db_.mark_broken();
  }
  void complete() noexcept { is_done_ = true; }

 private:
  pg_session& db_;
  bool is_done_ = false;
};

namespace {

using pg::rows;

// Reads the data of a COPY to the client, and drops it.
task<result<void>> drop_copied(PGconn* handle) {
  for (;;) {
    char* row = nullptr;
    const int size = PQgetCopyData(handle, &row, 1);
    PQfreemem(row);
    if (size < 0) co_return {};  // the end, or an error that PQgetResult() returns
    if (size > 0) continue;
    co_await or_return(wait_for(handle, POLLIN));
    if (PQconsumeInput(handle) == 0) co_return failure(error_of(handle));
  }
}

// Ends the COPY that the result reports.
task<result<void>> end_copy(PGconn* handle, ExecStatusType status) {
  if (status == PGRES_COPY_OUT) co_return co_await drop_copied(handle);
  if (status != PGRES_COPY_IN || PQputCopyEnd(handle, "the client has abandoned the COPY") != 1)
    co_return failure(pg::make_error_code(pg::errc::copying));
  co_return co_await flush(handle);
}

// Reads and drops all answers, until the server is ready for the next statement.
task<result<void>> drop_answers(PGconn* handle) {
  co_await or_return(flush(handle));
  for (;;) {
    const rows answer = co_await or_return(next_result(handle));
    if (is_copy(answer)) co_await or_return(end_copy(handle, PQresultStatus(answer.get())));
    else if (!answer && (PQpipelineStatus(handle) == PQ_PIPELINE_OFF || PQexitPipelineMode(handle) == 1)) co_return {};
  }
}

// Until here a cancel request could reach the next statement.
task<result<void>> end_cancel_request(pg_session& db) {
  if (!db.cancel_request()) co_return {};
  co_await or_return(db.cancel_request().receive());
  db.forget_cancel_request();
  co_return {};
}

bool has_answers(connection_state state) noexcept {
  return state == connection_state::awaiting_answers || state == connection_state::copying;
}

// An exchange that begins with abandoned answers.
task<result<void>> drain_answers(pg_session& db) {
  pg_exchange exchange(db);
  if (!db.request_cancel()) co_return db.break_off(pg::make_error_code(pg::errc::cancel_refused));
  co_await or_return(drop_answers(db.handle()));
  co_await or_return(end_cancel_request(db));
  exchange.complete();
  co_return {};
}

task<result<void>> drain(pg_session& db) {
  if (has_answers(db.state())) co_await or_return(drain_answers(db));
  if (const std::error_code error = db.refusal()) co_return db.fail(error);
  if (db.is_in_transaction()) co_await or_return(roll_back(db));
  db.end_guard();
  if (db.state() != connection_state::idle) co_return db.fail(pg::make_error_code(pg::errc::protocol_violation));
  co_return {};
}

}  // namespace

task<result<void>> roll_back(pg_session& db) {
  PGconn* const handle = db.handle();
  pg_exchange exchange(db);
  if (PQsendQuery(handle, "ROLLBACK") == 0) {
    exchange.complete();
    co_return failure(error_of(handle));
  }
  co_await or_return(flush(handle));
  const rows answer = co_await or_return(last_result(handle));
  if (!answer) co_return failure(error_of(handle));
  exchange.complete();
  db.forget_roll_back();
  if (is_failure(answer)) co_return failure(error_of(handle, answer));
  co_return {};
}

task<result<void>> drain_within(pg_session& db, std::chrono::nanoseconds limit) {
  pg_drain_guard guard(db);
  co_await or_return(within(limit, drain(db)));
  guard.complete();
  co_return {};
}

}}}  // namespace hocket::detail
