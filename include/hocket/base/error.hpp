// The error codes of hocket, and the exception of a cancelled wait.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <system_error>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// Errors of hocket that are not plain errors of the system. A condition has a value here if no std::errc names it, or
// if a program must distinguish it from the error of a system call. Otherwise hocket gives a std::errc:
// invalid_argument, not_enough_memory, resource_unavailable_try_again of an operation that is not possible at once,
// broken_pipe of a oneshot whose sender was dropped. A failed system call gives the system's code, except ETIMEDOUT
// (peer_lost). Layers may have an enum of their own (http::errc).
//
// A std::error_code of each value compares equal to the std::errc named beside it.
enum class errc {
  // A channel, broadcast, watch or connection_pool was closed. Equals std::errc::broken_pipe.
  closed = 1,
  // The coroutine of the wait was killed, and the wait was made with reporting_kill(); or the fiber of an HTTP handler
  // was killed. Equals std::errc::operation_canceled.
  killed = 2,
  // A stream ended in the middle of the data to read. Equals std::errc::no_message_available.
  end_of_stream = 3,
  // An earlier write to the stream was partial (io/stream.hpp). Equals std::errc::io_error.
  partial_write = 4,
  // The coroutine of the wait was cancelled. The joined coroutine, or the expected reply of a task_manager, was
  // cancelled or killed. The descriptor was closed during the wait. The loop, runtime, blocking_pool or task_manager
  // has ended, or admits nothing more. Equals std::errc::operation_canceled.
  cancelled = 5,
  // A deadline has passed: of the wait, of its coroutine, of the joined coroutine, or of an expected reply. Equals
  // std::errc::timed_out.
  deadline_exceeded = 6,
  // A channel, the queue of a blocking_pool or a task_manager has no room; or the pool has no thread, and the system
  // starts none. Equals std::errc::resource_unavailable_try_again.
  full = 7,
  // The peer does not answer: a connect, a read or a write failed with ETIMEDOUT. Equals std::errc::connection_aborted,
  // not timed_out.
  peer_lost = 8,
};
// The category "hocket", for std::error_code(value, error_category()).
const std::error_category& error_category() noexcept;
// Converts an errc to a std::error_code. The conversion is implicit, too: `std::error_code ec = errc::closed;`.
inline std::error_code make_error_code(errc error) noexcept { return {static_cast<int>(error), error_category()}; }

// The exception of a cancelled wait. It does not derive from std::exception, so `catch (const std::exception&)` does
// not catch it: a handler that logs and swallows exceptions does not swallow a cancellation.
class cancelled {
 public:
  const char* what() const noexcept { return "hocket: cancelled"; }
  std::error_code code() const noexcept { return make_error_code(errc::cancelled); }
};

namespace detail {
// Throws `cancelled` if `error` equals std::errc::operation_canceled (errc::cancelled, errc::killed), otherwise
// std::system_error with the code `error`.
[[noreturn]] void throw_error(std::error_code error);
}  // namespace detail

}}  // namespace hocket

template <>
struct std::is_error_code_enum<hocket::errc> : std::true_type {};
