// Sending and reading, by libpq's non-blocking protocol: PQflush() until all is sent, PQconsumeInput() until PQisBusy()
// is 0, PQgetResult() until it returns null. Between two calls the coroutine waits for the socket.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/pg/error.hpp>
#include <hocket/pg/statement.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline pg::rows own_rows(PGresult* result) noexcept { return {result, &PQclear}; }

// Why a call of libpq has failed.
std::error_code error_of(const PGconn* handle) noexcept;
// Why the server has refused a statement.
std::error_code error_of(const PGconn* handle, const pg::rows& failed) noexcept;
bool is_failure(const pg::rows& answer) noexcept;
bool is_copy(const pg::rows& answer) noexcept;

// Waits for events of the socket. Returns at once for POLLIN if TLS has decrypted bytes.
task<result<void>> wait_for(PGconn* handle, short events);
// Sends all. The server may answer before it has read all, and then reads on only after we have read its answers.
task<result<void>> flush(PGconn* handle);
// The next result; null after the last result of a statement.
task<result<pg::rows>> next_result(PGconn* handle);
// Reads the results of one statement, up to the first COPY. Returns the first failure, else the last result. Null:
// there was none.
task<result<pg::rows>> last_result(PGconn* handle);

}}}  // namespace hocket::detail
