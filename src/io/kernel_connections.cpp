// accept(2) and connect(2).
#include <hocket/base/detail/own_fds.hpp>
#include <hocket/base/detail/platform/raw_calls.hpp>
#include <hocket/io/detail/accept.hpp>
#include <hocket/io/detail/descriptor_table.hpp>
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

// Empty, if the system does not tell it.
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

call_end connected(open_descriptor& at, transfer& what) noexcept {
  at.set_peer_name(peer_of(at, what));
  if (is_connected_to_itself(at)) what.fail(ECONNREFUSED);
  return kernel_calls::ended(what, call_end::done);
}

long accept_any(int listener, sockaddr* peer, socklen_t* size) noexcept {
  const socklen_t room = size ? *size : 0;
  long got = 0;
  do {
    if (size) *size = room;
    got = system_calls::told(::accept4(listener, peer, size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  } while (got < 0 && concerns_one_connection(got));
  return got < 0 ? got : system_calls::told(own_fd(static_cast<int>(got)));
}

}  // namespace

long accept_fd(int listener) noexcept { return accept_any(listener, nullptr, nullptr); }

long accept_fd(int listener, compact_address& peer) noexcept {
  sockaddr_storage address;
  socklen_t size = sizeof address;
  const long got = accept_any(listener, reinterpret_cast<sockaddr*>(&address), &size);
  if (got >= 0) peer.assign(&address, size);
  return got;
}

call_end kernel_calls::accept(const open_descriptor& at, transfer& what) noexcept {
  const bool tcp = what.size != 0;
  compact_address peer;
  const long got = tcp ? accept_fd(at.native_handle(), peer) : accept_fd(at.native_handle());
  if (got < 0) return failed(what, got);
  const int fd = static_cast<int>(got);
  open_descriptor* const made =
      descriptor_table::take(kernel::instance(), fd, tcp ? descriptor_kind::stream : descriptor_kind::socket);
  what.data = made;
  if (made) {
    made->set_peer_name(peer);
    return ended(what, call_end::done);
  }
  ::close(fd);
  what.fail(ENOMEM);
  return call_end::done;
}

// Asked again, the system tells how far it is. (SO_ERROR is 0 while it is under way, too.) The queue of a unix socket
// may be full, and no edge tells when it is not.
call_end kernel_calls::connect(open_descriptor& at, transfer& what) noexcept {
  const long got = system_calls::told(raw_calls::connect(at.native_handle(), what.data, what.size));
  if (got == -EINPROGRESS || got == -EALREADY || got == -EINTR) {
    what.done = 1;
    return call_end::blocks;
  }
  if (got == 0 || (got == -EISCONN && what.done == 1)) return connected(at, what);
  if (got == -EAGAIN && at.kind() != descriptor_kind::stream) return call_end::blocks;  // retry_timer.hpp
  what.fail(static_cast<int>(-got));  // EAGAIN of TCP, too: there is no free port
  return call_end::done;
}

}}}  // namespace hocket::detail
