// libpq's non-blocking protocol: PQflush() until all is sent, PQconsumeInput() until PQisBusy() is 0, PQgetResult()
// until it returns null. Between two calls the coroutine waits for the socket.
#include <hocket/pg/connection.hpp>

#include <hocket/coro/or_return.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/runtime/blocking.hpp>

#include <array>
#include <cctype>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace pg {
namespace {

class sqlstate_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "PostgreSQL"; }
  std::string message(int value) const override {
    std::string state(5, '0');
    for (auto digit = state.rbegin(); digit != state.rend(); ++digit, value /= 36)
      *digit = static_cast<char>(value % 36 < 10 ? '0' + value % 36 : 'A' + value % 36 - 10);
    return "SQLSTATE " + state;
  }
};

rows own(PGresult* result) noexcept { return {result, &PQclear}; }

// Why a call of libpq failed.
std::error_code error_of(const PGconn* db) noexcept {
  return std::make_error_code(PQstatus(db) == CONNECTION_OK ? std::errc::not_enough_memory
                                                            : std::errc::connection_reset);
}
std::error_code error_of(const PGconn* db, const rows& failed) noexcept {
  const char* const state = PQresultErrorField(failed.get(), PG_DIAG_SQLSTATE);
  return state ? sqlstate(state) : error_of(db);
}

bool is_failure(const rows& got) noexcept {
  const ExecStatusType how = PQresultStatus(got.get());
  return how == PGRES_FATAL_ERROR || how == PGRES_BAD_RESPONSE || how == PGRES_NONFATAL_ERROR ||
         how == PGRES_PIPELINE_ABORTED;
}

task<result<void>> wait(PGconn* db, short events) {
  const short told = co_await or_return(poll_fd(PQsocket(db), events));
  static_cast<void>(told);
  co_return {};
}

// The server may answer before it has read all. Then it reads on only after we have read its answers.
task<result<void>> flush(PGconn* db) {
  for (int left = PQflush(db); left != 0; left = PQflush(db)) {
    if (left < 0) co_return failure(error_of(db));
    const short told = co_await or_return(poll_fd(PQsocket(db), POLLIN | POLLOUT));
    if ((told & POLLIN) != 0 && PQconsumeInput(db) == 0) co_return failure(error_of(db));
  }
  co_return {};
}

// The next result; null after the last.
task<result<rows>> next(PGconn* db) {
  while (PQisBusy(db) != 0) {
    co_await or_return(wait(db, POLLIN));
    if (PQconsumeInput(db) == 0) co_return failure(error_of(db));
  }
  co_return own(PQgetResult(db));
}

// Reads all results of one statement; returns the last, or the first failure.
task<result<rows>> last(PGconn* db) {
  rows found = own(nullptr);
  for (rows got = co_await or_return(next(db)); got; got = co_await or_return(next(db))) {
    if (!found || !is_failure(found)) found = std::move(got);
    const ExecStatusType how = PQresultStatus(found.get());
    if (how == PGRES_COPY_IN || how == PGRES_COPY_OUT || how == PGRES_COPY_BOTH) break;  // read on by native()
  }
  if (!found) co_return failure(error_of(db));
  if (is_failure(found)) co_return failure(error_of(db, found));
  co_return found;
}

// A statement with its texts, as libpq takes them: zero-terminated.
class owned_statement {
 public:
  explicit owned_statement(const statement& from) : text_(from.text), is_prepared_(from.is_prepared) {
    for (std::size_t i = 0; i < from.parameters.size(); ++i) parameters_.emplace_back(from.parameters[i]);
  }

  bool send(PGconn* db) const {
    std::vector<const char*> values;
    for (const std::string& parameter : parameters_) values.push_back(parameter.c_str());
    const int count = static_cast<int>(values.size());
    if (is_prepared_) return PQsendQueryPrepared(db, text_.c_str(), count, values.data(), nullptr, nullptr, 0) != 0;
    if (values.empty() && PQpipelineStatus(db) == PQ_PIPELINE_OFF) return PQsendQuery(db, text_.c_str()) != 0;
    return PQsendQueryParams(db, text_.c_str(), count, nullptr, values.data(), nullptr, nullptr, 0) != 0;
  }

 private:
  std::string text_;
  std::vector<std::string> parameters_;
  bool is_prepared_;
};

int ask_to_cancel(PGcancel* request) {
  std::array<char, 256> why;
  return PQcancel(request, why.data(), static_cast<int>(why.size()));
}

// After a stop or a deadline has ended a wait: asks the server to cancel the query.
task<void> cancel(PGconn* db) {
  const std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> request{PQgetCancel(db), &PQfreeCancel};
  if (request) static_cast<void>(co_await blocking(&ask_to_cancel, request.get()));
}

template <class T>
task<result<T>> cancelled_by_its_end(PGconn* db, task<result<T>> answer) {
  auto got = co_await std::move(answer);
  if (!got && (got.error() == std::errc::operation_canceled || got.error() == std::errc::timed_out))
    co_await shielded(cancel(db));
  co_return got;
}

task<result<rows>> answer_of(PGconn* db) {
  co_await or_return(flush(db));
  co_return co_await last(db);
}

task<result<std::vector<rows>>> answers_of(PGconn* db, std::size_t count) {
  co_await or_return(flush(db));
  std::vector<rows> all;
  std::error_code first_error{};
  for (std::size_t i = 0; i < count; ++i) {
    auto one = co_await last(db);
    if (one) all.push_back(std::move(*one));
    else if (PQstatus(db) != CONNECTION_OK || one.error().category() != category()) {
      if (!first_error) co_return failure(one.error());
    } else if (!first_error) {
      first_error = one.error();
    }
  }
  const rows end = co_await or_return(next(db));  // PGRES_PIPELINE_SYNC
  static_cast<void>(end);
  PQexitPipelineMode(db);
  if (first_error) co_return failure(first_error);
  co_return all;
}

task<result<rows>> run_owned(PGconn* db, owned_statement command) {
  if (!command.send(db)) co_return failure(error_of(db));
  co_return co_await cancelled_by_its_end(db, answer_of(db));
}

task<result<std::vector<rows>>> run_all(PGconn* db, std::vector<owned_statement> all) {
  if (PQenterPipelineMode(db) == 0) co_return failure(error_of(db));
  for (const owned_statement& each : all)
    if (!each.send(db)) co_return failure(error_of(db));
  if (PQpipelineSync(db) == 0) co_return failure(error_of(db));
  co_return co_await cancelled_by_its_end(db, answers_of(db, all.size()));
}

}  // namespace

const std::error_category& category() noexcept {
  static const sqlstate_category one;
  return one;
}

task<result<rows>> connection::run(const statement& command) { return run_owned(native(), owned_statement(command)); }

task<result<void>> connection::prepare(std::string name, std::string text) {
  PGconn* const db = native();
  if (PQsendPrepare(db, name.c_str(), text.c_str(), 0, nullptr) == 0) co_return failure(error_of(db));
  const rows done = co_await or_return(cancelled_by_its_end(db, answer_of(db)));
  static_cast<void>(done);
  co_return {};
}

task<result<std::vector<rows>>> connection::pipeline(std::span<const statement> statements) {
  return run_all(native(), std::vector<owned_statement>(statements.begin(), statements.end()));
}

static failure refused(const connection& client, std::string* message) {
  if (message) *message = client.message();
  return failure(std::make_error_code(std::errc::connection_refused));
}

task<result<connection>> connect(std::string conninfo, std::string* message) {
  PGconn* const db = co_await or_return(blocking(&PQconnectStart, conninfo.c_str()));
  if (!db) co_return failure(std::make_error_code(std::errc::not_enough_memory));
  connection made(db);
  if (PQstatus(db) == CONNECTION_BAD) co_return refused(made, message);
  for (auto wants = PGRES_POLLING_WRITING; wants != PGRES_POLLING_OK; wants = PQconnectPoll(db)) {
    if (wants == PGRES_POLLING_FAILED) co_return refused(made, message);
    co_await or_return(wait(db, wants == PGRES_POLLING_READING ? POLLIN : POLLOUT));
  }
  if (PQsetnonblocking(db, 1) != 0) co_return failure(error_of(db));
  co_return made;
}

bool is_idle(connection& client) {
  PGconn* const db = client.native();
  return PQstatus(db) == CONNECTION_OK && PQtransactionStatus(db) == PQTRANS_IDLE &&
         PQpipelineStatus(db) == PQ_PIPELINE_OFF;
}

}}}  // namespace hocket::pg
