// The session behind a connection: libpq's handle, and what hocket itself knows about the state.
//
// # States
//
//   libpq's memory is not enough: if a wait ends in the middle of an answer, libpq does not know that the reader has
//   gone. So the session counts by itself: an exchange is open from before its first byte until its last result was
//   read. Whatever ends the coroutine (a cancel, a deadline, a kill, an exception) destroys the exchange, and an
//   exchange that is destroyed open abandons its answers.
//
//   state               holds while
//   broken              broken_ is set; libpq has lost the connection; the process is a child by fork()
//   copying             copying_ is set, and libpq has not ended the COPY
//   awaiting_answers    an exchange is open or was abandoned; or code that uses native() has not read its results
//   in_transaction      the last ReadyForQuery said so
//   idle                otherwise
//
// Transitions: idle or in_transaction -> awaiting_answers: begin_exchange(). awaiting_answers -> idle, in_transaction
// or copying: complete_exchange(). Any -> broken: break_off(), which is final. The exchange of the drain is like
// others.
//
// # Abandoned answers
//
//   1. abandon() posts a cancel request to a thread (cancel_request.hpp), and returns. The state stays
//   awaiting_answers.
//   2. refusal() refuses every operation from then on. Nothing is sent, so no operation can get an abandoned answer.
//   3. drain() reads to the last abandoned answer. Then it waits until the server has closed the connection of the
//      request. Then the exchange is complete, and the state idle.
//
// Hazard: if a cancel request reaches the server after the connection was lent again, it cancels the statement of the
// next borrower. Prevented by step 3: the server closes the request's connection after it has sent the signal, and a
// backend that handles the signal while idle ignores it. A connection whose request has not ended is destroyed.
//
// # Answers that no statement asked for
//
// A server that answers twice would give the second answer to the next statement. libpq drops a message that it parses
// while idle, and reports its type in hexadecimal by a notice without an SQLSTATE; an ERROR becomes a notice of that
// severity. The notice receiver counts both. If the count has changed at the end of an exchange, before an operation
// sends, or in is_idle(), then the connection is broken. A second answer that arrives after the next statement was sent
// is not detected: that would cost a system call for each statement.
//
// Hazard: a PGresult has a copy of the receiver and its argument, may outlive the session, and calls the receiver when
// it is misused (PQgetvalue() of a row that does not exist). So the argument is a counter of the process, never the
// session. Sessions share 256 counters: a connection may be broken for a notice of another, which is harmless.
//
// # Transactions
//
// A guard and its session refer to each other, so the guard may outlive the session. Both belong to one coroutine at a
// time. A destroyed guard sets must_roll_back_, unless libpq says that no transaction is open, and then the next call
// sends ROLLBACK first.
//
// Hazard: a mark without a transaction would roll back the transaction of a later borrower. Prevented: a guard that is
// destroyed after its transaction has ended sets no mark, and an operation that begins outside of a transaction clears
// the mark.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/pg/error.hpp>
#include <hocket/pool/connection_state.hpp>
#include <cstdint>
#include <postgresql/libpq-fe.h>
#include <string>
#include <string_view>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Messages that arrived while no statement ran.
struct stray_counter {
  primitive::atomic<std::uint32_t> answers{0};
  primitive::atomic<std::uint32_t> errors{0};
};

class pg_session {
 public:
  explicit pg_session(PGconn* handle) noexcept;
  pg_session(const pg_session&) = delete;
  pg_session& operator=(const pg_session&) = delete;
  ~pg_session();

  PGconn* handle() const noexcept { return handle_; }
  std::string_view message() const noexcept;

  connection_state state() const noexcept;
  bool is_idle() noexcept;

  // Why an operation may not begin; no error: it may. Forgets the text of the last error. Parses the received bytes.
  std::error_code refusal() noexcept;
  // Stores the text of the error, and returns the error.
  failure fail(std::error_code error) noexcept;
  // fail(), and the connection is broken.
  failure break_off(std::error_code error) noexcept;

  void mark_broken() noexcept { broken_ = true; }

  // --- an exchange
  void begin_exchange() noexcept { is_exchanging_ = true; }
  void complete_exchange(bool has_copy) noexcept;
  void abandon() noexcept;

  // --- the drain
  // Posts a cancel request, unless one was posted. False: all threads are busy.
  bool request_cancel() noexcept;
  oneshot_receiver<void>& cancel_request() noexcept { return cancel_request_; }
  void forget_cancel_request() noexcept { cancel_request_ = {}; }

  // --- transactions
  bool is_in_transaction() const noexcept;
  bool must_roll_back() const noexcept { return must_roll_back_ && is_in_transaction(); }
  void forget_roll_back() noexcept { must_roll_back_ = false; }
  // Called by the guard: at its construction and moves, and at the end of the transaction.
  // The session resets the guard's pointer to it when it ends.
  void set_guard(pg_session** guard) noexcept { guard_ = guard; }
  // The transaction of the guard is over: ended by a statement of the holder, or rolled back by a drain.
  void end_guard() noexcept {
    if (guard_) *guard_ = nullptr;
    guard_ = nullptr;
  }
  // Called by the destructor of the guard.
  void drop_guard() noexcept {
    guard_ = nullptr;
    must_roll_back_ = is_exchanging_ || PQtransactionStatus(handle_) != PQTRANS_IDLE;
  }

 private:
  bool is_in_child() const noexcept;
  bool is_lost() const noexcept;
  bool is_copying() const noexcept;
  bool has_peer() noexcept;
  bool read_pushed() noexcept;
  bool has_stray() noexcept;
  void disown_socket() noexcept;

  PGconn* const handle_;
  const std::uint32_t forks_;  // at construction
  bool broken_ = false;
  bool is_exchanging_ = false;
  bool copying_ = false;
  bool must_roll_back_ = false;
  bool has_violation_ = false;  // the server has sent an answer that no statement asked for
  stray_counter& strays_;
  std::uint32_t known_answers_ = 0;  // of the counter
  std::uint32_t known_errors_ = 0;
  oneshot_receiver<void> cancel_request_;  // its sender ends when the request has
  pg_session** guard_ = nullptr;           // the pointer to this session in the guard
  std::string text_;                       // of the last error of hocket; empty: libpq has the text
};

// An exchange with the server, from before the first byte is sent until the last result was read.
class pg_exchange {
 public:
  explicit pg_exchange(pg_session& session) noexcept : session_(session) { session_.begin_exchange(); }
  pg_exchange(const pg_exchange&) = delete;
  pg_exchange& operator=(const pg_exchange&) = delete;
  ~pg_exchange() {
    if (!is_complete_) session_.abandon();
  }
  void complete(bool has_copy = false) noexcept {
    is_complete_ = true;
    session_.complete_exchange(has_copy);
  }

 private:
  pg_session& session_;
  bool is_complete_ = false;
};

}}}  // namespace hocket::detail
