#include <hocket/base/seam/own_fds.hpp>
#include <hocket/net/detail/socket_operations.hpp>

#include "net/socket_calls.hpp"

#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

int family_of(const socket_address& address) noexcept {
  switch (address.kind()) {
    case socket_address::family::v4: return AF_INET;
    case socket_address::family::v6: return AF_INET6;
    case socket_address::family::unix_path: return AF_UNIX;
    case socket_address::family::none: return AF_UNSPEC;
  }
  return AF_UNSPEC;
}

// Lets connect(2) choose the port, when the destination is known: connections to several destinations may share a port.
// Systems before Linux 4.2 choose the port in bind(2).
void defer_port_to_connect(int fd, const socket_address& from) noexcept {
  constexpr int on = 1;
  if (from.kind() == socket_address::family::unix_path || from.port() != 0) return;
  static_cast<void>(::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on));
}

// Returns an error number, or 0.
int prepare(int fd, const socket_address& to, const socket_address& from, bool no_delay) noexcept {
  constexpr int on = 1;
  if (no_delay && to.kind() != socket_address::family::unix_path &&
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
    return errno;
  if (!from.is_valid()) return 0;
  if (from.is_unnamed()) return EINVAL;
  defer_port_to_connect(fd, from);
  return ::bind(fd, static_cast<const sockaddr*>(from.data()), static_cast<socklen_t>(from.size())) == 0 ? 0 : errno;
}

class kernel_opener final : public socket_opener {
 public:
  open_descriptor* open(const socket_address& to, const socket_address& from, bool no_delay,
                        int& error) noexcept override {
    const int fd = new_socket(to, SOCK_STREAM);
    if (fd < 0) {
      error = -fd;
      return nullptr;
    }
    error = prepare(fd, to, from, no_delay);
    if (error != 0) {
      ::close(fd);
      return nullptr;
    }
    result<descriptor> socket = descriptor_of_socket(fd, to.kind() != socket_address::family::unix_path);
    if (!socket) {
      error = socket.error().value();
      return nullptr;
    }
    return descriptor_access::release(*socket);
  }
};

}  // namespace

int new_socket(const socket_address& for_address, int type) noexcept {
  if (!for_address.is_valid() || for_address.is_unnamed()) return -EINVAL;
  const int fd = own_fd(::socket(family_of(for_address), type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  return fd < 0 ? -errno : fd;
}

void close_fd(int fd) noexcept { ::close(fd); }

result<descriptor> descriptor_of_socket(int fd, bool tcp) noexcept {
  result<descriptor> socket = descriptor_access::take_over(fd, tcp ? descriptor_kind::stream : descriptor_kind::socket);
  if (!socket) ::close(fd);
  return socket;
}

result<descriptor> adopt_socket(int fd, int type) noexcept {
  const std::optional<int> actual_type = option_of(fd, SO_TYPE);
  if (!actual_type) return failure_of_transfer(errno);
  if (*actual_type != type) return failure_of_transfer(EINVAL);
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || ::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
    return failure_of_transfer(errno);
  return descriptor_access::take_over(fd, descriptor_kind::socket);
}

socket_opener& system_sockets() noexcept {
  static constinit kernel_opener opener;
  return opener;
}

}}}  // namespace hocket::detail
