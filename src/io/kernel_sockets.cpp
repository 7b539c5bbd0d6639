// Calls on the kernel's sockets that are no transfers.
#include <hocket/io/seam/open_descriptor.hpp>
#include <io/kernel.hpp>

#include <cerrno>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

int error_of_call(int returned) noexcept { return returned == 0 ? 0 : errno; }

}  // namespace

int kernel::set_option(open_descriptor& at, int level, int name, const void* value, std::size_t size) noexcept {
  return error_of_call(::setsockopt(at.native_handle(), level, name, value, static_cast<socklen_t>(size)));
}

int kernel::get_option(open_descriptor& at, int level, int name, void* value, std::size_t& size) noexcept {
  auto length = static_cast<socklen_t>(size);
  const int error = error_of_call(::getsockopt(at.native_handle(), level, name, value, &length));
  size = length;
  return error;
}

// The edge of the shutdown must find the note.
int kernel::shut_down(open_descriptor& at, int cause) noexcept {
  at.record_shutdown(cause == SHUT_RD   ? shut_directions::read
                     : cause == SHUT_WR ? shut_directions::write
                                        : shut_directions::both);
  return error_of_call(::shutdown(at.native_handle(), cause));
}

int kernel::address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept {
  auto length = static_cast<socklen_t>(size);
  auto* const to = static_cast<sockaddr*>(into);
  const int error = error_of_call(which == socket_side::local ? ::getsockname(at.native_handle(), to, &length)
                                                              : ::getpeername(at.native_handle(), to, &length));
  size = length;
  return error;
}

std::size_t kernel::unsent(open_descriptor& at) noexcept {
  int bytes = 0;
  return ::ioctl(at.native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}}}  // namespace hocket::detail
