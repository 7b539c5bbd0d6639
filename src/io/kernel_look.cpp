// poll(2) for readiness, and for the end of the peer.
//
// poll(2) does not distinguish the two sides: the peer's shutdown for writing and this side's shutdown for reading both
// cause POLLRDHUP, and the ends of both directions cause POLLHUP. For TCP the state of the connection decides. For
// other sockets the descriptor has a record of this side's shutdowns.
#include <hocket/io/descriptor.hpp>
#include <io/kernel_calls.hpp>
#include <io/platform/system_calls.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// Returns nothing for a socket other than TCP.
std::optional<int> tcp_state_of(int fd) noexcept {
  std::uint8_t state = 0;  // the first byte of tcp_info
  socklen_t size = sizeof state;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, &size) != 0 || size != sizeof state) return std::nullopt;
  return state;
}

std::optional<peer_end> end_by_state(int tcp_state) noexcept {
  switch (tcp_state) {
    case TCP_CLOSE_WAIT: return peer_end::half_closed;
    case TCP_LAST_ACK:
    case TCP_CLOSING:
    case TCP_TIME_WAIT:
    case TCP_CLOSE: return peer_end::closed;
    default: return std::nullopt;
  }
}

std::optional<peer_end> end_by_events(short events, shut_directions own) noexcept {
  if (events & POLLERR) return peer_end::closed;
  if ((events & POLLHUP) && own != shut_directions::both) return peer_end::closed;
  const bool is_reading = own == shut_directions::none || own == shut_directions::write;
  if ((events & POLLRDHUP) && is_reading) return peer_end::half_closed;
  return std::nullopt;
}

call_end poll_for_end(const open_descriptor& record, short events, transfer& operation) noexcept {
  const std::optional<int> state = tcp_state_of(record.native_handle());
  const std::optional<peer_end> end = state ? end_by_state(*state) : end_by_events(events, record.shut_down_here());
  if (!end) return call_end::blocks;
  operation.done = static_cast<std::size_t>(*end);
  return kernel_calls::ended(operation, call_end::done);
}

}  // namespace

call_end kernel_calls::poll_once(const open_descriptor& record, transfer& operation) noexcept {
  pollfd current{record.native_handle(), static_cast<short>(operation.size), 0};
  long ready = 0;
  do ready = system_calls::value_or_error(::poll(&current, 1, 0));
  while (ready == -EINTR);
  if (ready < 0) return failed(operation, ready);
  if (ready == 0) return call_end::blocks;
  return operation.size == POLLRDHUP ? poll_for_end(record, current.revents, operation)
                                     : ended(operation, call_end::done);
}

}}}  // namespace hocket::detail
