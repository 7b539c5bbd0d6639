// The error codes of hocket, and the exception of a cancelled wait.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <system_error>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// The errors that hocket itself gives. Each value equals the nearest std::errc, too.
enum class errc {
  closed = 1,             // the channel was closed; equals std::errc::broken_pipe
  killed = 2,             // the coroutine was killed, and the wait reports it; equals std::errc::operation_canceled
  end_of_stream = 3,      // a stream ended in the middle of the data to read; equals std::errc::no_message_available
  partial_write = 4,      // an earlier write to the stream was partial (io/stream.hpp); equals std::errc::io_error
  cancelled = 5,          // the coroutine was cancelled, or what it waited for was closed; equals
                          // std::errc::operation_canceled
  deadline_exceeded = 6,  // a deadline of the wait, or of its coroutine, has passed; equals std::errc::timed_out
  full = 7,               // there is no room in a queue; equals std::errc::resource_unavailable_try_again
  peer_lost = 8,          // the system has given up a peer that does not answer: ETIMEDOUT of a connect, a read or a
                          // write; equals std::errc::connection_aborted, not timed_out
};
// The category "hocket", for std::error_code(value, error_category()).
const std::error_category& error_category() noexcept;
// Converts an errc to a std::error_code. The conversion is implicit, too: `std::error_code ec = errc::closed;`.
inline std::error_code make_error_code(errc error) noexcept { return {static_cast<int>(error), error_category()}; }

// The exception of a cancelled wait. It does not derive from std::exception, so that a handler that logs and swallows
// `const std::exception&` does not swallow a cancellation.
class cancelled {
 public:
  const char* what() const noexcept { return "hocket: cancelled"; }
  std::error_code code() const noexcept { return make_error_code(errc::cancelled); }
};

namespace detail {
// Throws `cancelled` if `error` equals std::errc::operation_canceled, otherwise std::system_error of `error`.
[[noreturn]] void throw_error(std::error_code error);
}  // namespace detail

}}  // namespace hocket

template <>
struct std::is_error_code_enum<hocket::errc> : std::true_type {};
