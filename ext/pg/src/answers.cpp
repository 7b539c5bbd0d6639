#include "answers.hpp"

#include <hocket/coro/or_return.hpp>
#include <hocket/io/poll_fds.hpp>

#include "tls.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using pg::rows;

// libpq has no error code. If the connection is still good, the reason is a lack of memory.
std::error_code error_of(const PGconn* handle) noexcept {
  return std::make_error_code(PQstatus(handle) == CONNECTION_OK ? std::errc::not_enough_memory
                                                                : std::errc::connection_reset);
}
std::error_code error_of(const PGconn* handle, const rows& failed) noexcept {
  const char* const state = PQresultErrorField(failed.get(), PG_DIAG_SQLSTATE);
  return state ? pg::sqlstate(state) : error_of(handle);
}

bool is_failure(const rows& answer) noexcept {
  const ExecStatusType status = PQresultStatus(answer.get());
  return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE || status == PGRES_NONFATAL_ERROR ||
         status == PGRES_PIPELINE_ABORTED;
}
bool is_copy(const rows& answer) noexcept {
  const ExecStatusType status = PQresultStatus(answer.get());
  return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

task<result<void>> wait_for(PGconn* handle, short events) {
  if ((events & POLLIN) != 0 && has_decrypted(handle)) co_return {};
  const short ready = co_await or_return(poll_fd(PQsocket(handle), events));
  static_cast<void>(ready);
  co_return {};
}

task<result<void>> flush(PGconn* handle) {
  for (int rest = PQflush(handle); rest != 0; rest = PQflush(handle)) {
    if (rest < 0) co_return failure(error_of(handle));
    const short ready = co_await or_return(poll_fd(PQsocket(handle), POLLIN | POLLOUT));
    if ((ready & POLLIN) != 0 && PQconsumeInput(handle) == 0) co_return failure(error_of(handle));
  }
  co_return {};
}

// Waits until PQgetResult() can return without blocking.
static task<result<void>> wait_for_result(PGconn* handle) {
  while (PQisBusy(handle) != 0) {
    if (!has_decrypted(handle)) {
      const short ready = co_await or_return(poll_fd(PQsocket(handle), POLLIN));
      static_cast<void>(ready);
    }
    if (PQconsumeInput(handle) == 0) co_return failure(error_of(handle));
  }
  co_return {};
}

task<result<rows>> next_result(PGconn* handle) {
  if (PQisBusy(handle) != 0) co_await or_return(wait_for_result(handle));
  co_return own_rows(PQgetResult(handle));
}

task<result<rows>> last_result(PGconn* handle) {
  rows last = own_rows(nullptr);
  for (;;) {
    if (PQisBusy(handle) != 0) {
      const auto arrived = co_await wait_for_result(handle);
      // Before a server closes the connection, it sends the reason as an error: return that error.
      if (!arrived && last && is_failure(last) && PQstatus(handle) != CONNECTION_OK) co_return last;
      if (!arrived) co_return failure(arrived.error());
    }
    rows answer = own_rows(PQgetResult(handle));
    if (!answer) co_return last;
    const bool begins_copy = is_copy(answer);  // libpq returns it again and again, without waiting
    if (!last || !is_failure(last)) last = std::move(answer);
    if (begins_copy) co_return last;
  }
}

}}}  // namespace hocket::detail
