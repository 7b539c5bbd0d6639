// accept(2) and connect(2).
#include <hocket/base/seam/own_fds.hpp>
#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/io/detail/accept.hpp>
#include <hocket/io/seam/descriptor_table.hpp>
#include <io/kernel.hpp>
#include <io/kernel_calls.hpp>
#include <io/platform/system_calls.hpp>

#include <algorithm>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The connection ended before it was accepted, or its network failed (accept(2)): the next one is accepted.
bool concerns_one_connection(long error) noexcept {
  switch (-error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH: return true;
    default: return false;
  }
}

bool is_unspecified(const sockaddr_storage& address) noexcept {
  if (address.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    return v4.sin_addr.s_addr == htonl(INADDR_ANY);
  }
  sockaddr_in6 v6;
  std::memcpy(&v6, &address, sizeof v6);
  const bool is_mapped_any = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && v6.sin6_addr.s6_addr32[3] == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr) || is_mapped_any;
}

compact_address name_of(const sockaddr_storage& address, socklen_t size) noexcept {
  compact_address name;
  name.assign(&address, size);
  return name;
}

using name_call = int (*)(int, sockaddr*, socklen_t*);

// Empty, if the system does not report it.
compact_address name_by(name_call call, const open_descriptor& at) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (call(at.native_handle(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return name_of(address, size);
}

// The destination, unless the system has chosen one: an unspecified address is this machine.
compact_address peer_of(const open_descriptor& at, const transfer& connected) noexcept {
  sockaddr_storage address{};
  std::memcpy(&address, connected.data, std::min(connected.size, sizeof address));
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return {};
  if (is_unspecified(address)) return name_by(&::getpeername, at);
  return name_of(address, static_cast<socklen_t>(connected.size));
}

// A port of this machine at which nobody listens may be chosen as the port of the connection to it. TCP then connects
// the socket to itself. It is reset, so that the port is free for a listener at once.
bool is_connected_to_itself(const open_descriptor& at) noexcept {
  if (at.peer_name().empty() || name_by(&::getsockname, at) != at.peer_name()) return false;
  constexpr linger reset{1, 0};
  static_cast<void>(::setsockopt(at.native_handle(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset));
  return true;
}

call_end connected(open_descriptor& at, transfer& operation) noexcept {
  at.set_peer_name(peer_of(at, operation));
  if (is_connected_to_itself(at)) operation.fail(ECONNREFUSED);
  return kernel_calls::ended(operation, call_end::done);
}

long accept_any(int listener, sockaddr* peer, socklen_t* size) noexcept {
  const socklen_t room = size ? *size : 0;
  long returned = 0;
  do {
    if (size) *size = room;
    returned = system_calls::value_or_error(::accept4(listener, peer, size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  } while (returned < 0 && concerns_one_connection(returned));
  return returned < 0 ? returned : system_calls::value_or_error(own_fd(static_cast<int>(returned)));
}

}  // namespace

long accept_fd(int listener) noexcept { return accept_any(listener, nullptr, nullptr); }

long accept_fd(int listener, compact_address& peer) noexcept {
  sockaddr_storage address;
  socklen_t size = sizeof address;
  const long returned = accept_any(listener, reinterpret_cast<sockaddr*>(&address), &size);
  if (returned >= 0) peer.assign(&address, size);
  return returned;
}

call_end kernel_calls::accept(const open_descriptor& at, transfer& operation) noexcept {
  const bool tcp = operation.size != 0;
  compact_address peer;
  const long returned = tcp ? accept_fd(at.native_handle(), peer) : accept_fd(at.native_handle());
  if (returned < 0) return failed(operation, returned);
  const int fd = static_cast<int>(returned);
  open_descriptor* const created =
      descriptor_table::take(kernel::instance(), fd, tcp ? descriptor_kind::stream : descriptor_kind::socket);
  operation.data = created;
  if (created) {
    created->set_peer_name(peer);
    return ended(operation, call_end::done);
  }
  ::close(fd);
  operation.fail(ENOMEM);
  return call_end::done;
}

// Asked again, the system reports how far it is. (SO_ERROR is 0 while it is under way, too.) The queue of a unix socket
// may be full, and no edge reports when it is not.
call_end kernel_calls::connect(open_descriptor& at, transfer& operation) noexcept {
  const long returned =
      system_calls::value_or_error(raw_calls::connect(at.native_handle(), operation.data, operation.size));
  if (returned == -EINPROGRESS || returned == -EALREADY || returned == -EINTR) {
    operation.done = 1;
    return call_end::blocks;
  }
  if (returned == 0 || (returned == -EISCONN && operation.done == 1)) return connected(at, operation);
  if (returned == -EAGAIN && at.kind() != descriptor_kind::stream) return call_end::blocks;  // retry_timer.hpp
  operation.fail(static_cast<int>(-returned));  // EAGAIN of TCP, too: there is no free port
  return call_end::done;
}

}}}  // namespace hocket::detail
