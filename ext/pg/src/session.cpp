#include "session.hpp"

#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/forks.hpp>

#include "cancel_request.hpp"
#include "tls.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

// libpq's texts end with a line break.
extern "C" void log_notice(void*, const char* text) {
  try {
    std::string line = "PostgreSQL: ";
    line += text;
    while (line.ends_with('\n')) line.pop_back();
    notice(line.c_str());
  } catch (const std::bad_alloc&) {
    notice(text);
  }
}

bool is_error(std::string_view severity) noexcept {
  return severity == "ERROR" || severity == "FATAL" || severity == "PANIC";
}

// The counter of a new session.
stray_counter& next_counter() noexcept {
  static constinit std::array<stray_counter, 256> counters{};
  static constinit primitive::atomic<std::uint32_t> next{0};
  // ORDER: relaxed, pairs with nothing: any counter does.
  return counters[next.fetch_add(1, std::memory_order_relaxed) % counters.size()];
}

// The receiver that libpq begins with. It calls the processor.
constinit primitive::atomic<PQnoticeReceiver> libpq_receiver{nullptr};

// libpq's own notices have no SQLSTATE. Of these, only the one about an unexpected message has a hexadecimal number, in
// every language; the others report a misuse, such as PQgetvalue() of a row that does not exist.
bool is_about_message(const PGresult* message) noexcept {
  const char* const text = PQresultErrorField(message, PG_DIAG_MESSAGE_PRIMARY);
  return !text || std::strstr(text, "0x");
}

void receive_notice(void* counter, const PGresult* message) noexcept {
  auto& strays = *static_cast<stray_counter*>(counter);
  const char* const severity = PQresultErrorField(message, PG_DIAG_SEVERITY_NONLOCALIZED);
  const bool is_libpqs = !PQresultErrorField(message, PG_DIAG_SQLSTATE);
  // ORDER: relaxed, pairs with nothing: the session reads on this thread.
  if (is_libpqs && is_about_message(message)) strays.answers.fetch_add(1, std::memory_order_relaxed);
  // ORDER: relaxed, pairs with nothing: as above.
  if (!is_libpqs && severity && is_error(severity)) strays.errors.fetch_add(1, std::memory_order_relaxed);
  // ORDER: relaxed, pairs with the store in the constructor.
  libpq_receiver.load(std::memory_order_relaxed)(nullptr, message);
}

}  // namespace

pg_session::pg_session(PGconn* handle) noexcept : handle_(handle), forks_(forks_so_far()), strays_(next_counter()) {
  static_cast<void>(has_stray());
  has_violation_ = broken_ = false;
  // ORDER: relaxed, pairs with the load in receive_notice(): every thread stores the same address, before its session
  // reads anything.
  libpq_receiver.store(PQsetNoticeReceiver(handle_, &receive_notice, &strays_), std::memory_order_relaxed);
  PQsetNoticeProcessor(handle_, &log_notice, nullptr);
}

pg_session::~pg_session() {
  end_guard();
  if (is_in_child()) disown_socket();
  PQfinish(handle_);
}

std::string_view pg_session::message() const noexcept {
  return text_.empty() ? std::string_view(PQerrorMessage(handle_)) : std::string_view(text_);
}

// --- states

bool pg_session::is_in_child() const noexcept { return forks_ != forks_so_far(); }
bool pg_session::is_lost() const noexcept { return broken_ || PQstatus(handle_) != CONNECTION_OK; }
bool pg_session::is_copying() const noexcept { return copying_ && PQtransactionStatus(handle_) == PQTRANS_ACTIVE; }
bool pg_session::is_in_transaction() const noexcept {
  const PGTransactionStatusType status = PQtransactionStatus(handle_);
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

connection_state pg_session::state() const noexcept {
  if (is_lost() || is_in_child()) return connection_state::broken;
  if (is_exchanging_) return connection_state::awaiting_answers;
  if (is_copying()) return connection_state::copying;
  if (PQtransactionStatus(handle_) == PQTRANS_ACTIVE || PQpipelineStatus(handle_) != PQ_PIPELINE_OFF)
    return connection_state::awaiting_answers;
  return is_in_transaction() ? connection_state::in_transaction : connection_state::idle;
}

std::error_code pg_session::refusal() noexcept {
  text_.clear();
  if (is_in_child()) return make_error_code(pg::errc::forked);
  if (has_violation_) return make_error_code(pg::errc::protocol_violation);
  switch (state()) {
    case connection_state::broken: return std::make_error_code(std::errc::connection_reset);
    case connection_state::copying: return make_error_code(pg::errc::copying);
    case connection_state::awaiting_answers: return make_error_code(pg::errc::answers_outstanding);
    default: break;
  }
  if (read_pushed()) {
    must_roll_back_ = must_roll_back();
    return {};
  }
  broken_ = true;
  return has_violation_ ? make_error_code(pg::errc::protocol_violation)
                        : std::make_error_code(std::errc::connection_reset);
}

failure pg_session::fail(std::error_code error) noexcept {
  try {
    text_ = error.message();
  } catch (const std::bad_alloc&) {
    text_.clear();
  }
  return failure(error);
}

failure pg_session::break_off(std::error_code error) noexcept {
  broken_ = true;
  return fail(error);
}

// --- the socket

bool pg_session::is_idle() noexcept {
  return state() == connection_state::idle && has_peer() && state() == connection_state::idle;
}

// Reads what has arrived. False: the connection is broken.
bool pg_session::has_peer() noexcept {
  constexpr int max_reads = 1000;  // against a server that sends without a pause
  for (int reads = 0; reads < max_reads; ++reads) {
    char byte;
    const ssize_t size = has_decrypted(handle_) ? 1 : ::recv(PQsocket(handle_), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (size < 0 && errno == EINTR) continue;
    broken_ = size <= 0 || PQconsumeInput(handle_) == 0 || !read_pushed();
    if (broken_) return false;
  }
  return true;
}

// Parses the bytes that libpq has read while no statement runs. False: the connection is broken.
bool pg_session::read_pushed() noexcept {
  const bool is_busy = PQisBusy(handle_) != 0;
  return !has_stray() && !is_busy && PQstatus(handle_) == CONNECTION_OK;
}

// Whether a message has arrived that no statement asked for.
bool pg_session::has_stray() noexcept {
  // ORDER: relaxed, pairs with nothing: receive_notice() has counted on this thread.
  const std::uint32_t answers = strays_.answers.load(std::memory_order_relaxed);
  // ORDER: relaxed, pairs with nothing: as above.
  const std::uint32_t errors = strays_.errors.load(std::memory_order_relaxed);
  has_violation_ |= std::exchange(known_answers_, answers) != answers;
  return std::exchange(known_errors_, errors) != errors || has_violation_;
}

void pg_session::complete_exchange(bool has_copy) noexcept {
  is_exchanging_ = false;
  copying_ = has_copy;
  broken_ |= has_stray();
}

// In a child: PQfinish() would send its last message to the server of the parent. After this the number is that of a
// socket without a peer. If no descriptor is free, the number is closed first.
void pg_session::disown_socket() noexcept {
  const int fd = PQsocket(handle_);
  if (fd < 0) return;
  int unconnected = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (unconnected < 0) {
    ::close(fd);
    unconnected = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  }
  if (unconnected < 0 || unconnected == fd) return;
  ::dup3(unconnected, fd, O_CLOEXEC);
  ::close(unconnected);
}

// --- abandoned answers

void pg_session::abandon() noexcept {
  if (!is_lost() && !is_in_child()) static_cast<void>(request_cancel());
}

bool pg_session::request_cancel() noexcept {
  if (!cancel_request_) cancel_request_ = post_cancel_request(handle_);
  return static_cast<bool>(cancel_request_);
}

}}}  // namespace hocket::detail
