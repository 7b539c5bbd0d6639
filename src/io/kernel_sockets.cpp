// Calls on the kernel's sockets other than transfers.
#include <hocket/io/seam/open_descriptor.hpp>
#include <io/kernel.hpp>

#include <cerrno>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

int error_of_call(int rc) noexcept { return rc == 0 ? 0 : errno; }

}  // namespace

int kernel::set_option(open_descriptor& record, int level, int name, const void* value, std::size_t size) noexcept {
  return error_of_call(::setsockopt(record.native_handle(), level, name, value, static_cast<socklen_t>(size)));
}

int kernel::get_option(open_descriptor& record, int level, int name, void* value, std::size_t& size) noexcept {
  auto length = static_cast<socklen_t>(size);
  const int error = error_of_call(::getsockopt(record.native_handle(), level, name, value, &length));
  size = length;
  return error;
}

// Records the shutdown before the call: the edge of the call must find the record.
int kernel::shut_down(open_descriptor& record, int directions) noexcept {
  record.record_shutdown(directions == SHUT_RD   ? shut_directions::read
                         : directions == SHUT_WR ? shut_directions::write
                                                 : shut_directions::both);
  return error_of_call(::shutdown(record.native_handle(), directions));
}

int kernel::address_of(open_descriptor& record, socket_side side, void* target, std::size_t& size) noexcept {
  auto length = static_cast<socklen_t>(size);
  auto* const address = static_cast<sockaddr*>(target);
  const int error = error_of_call(side == socket_side::local ? ::getsockname(record.native_handle(), address, &length)
                                                             : ::getpeername(record.native_handle(), address, &length));
  size = length;
  return error;
}

std::size_t kernel::unsent(open_descriptor& record) noexcept {
  int bytes = 0;
  return ::ioctl(record.native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}}}  // namespace hocket::detail
