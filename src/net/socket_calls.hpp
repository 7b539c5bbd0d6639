// Socket calls other than transfers: options and addresses.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <hocket/net/address.hpp>

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// --- on an fd without a descriptor

// `rc` is the value that the call returned.
inline result<void> call_result(int rc) noexcept {
  if (rc != 0) return failure_of_transfer(errno);
  return {};
}

template <class T>
result<void> set_option(int fd, int level, int name, const T& value) noexcept {
  return call_result(::setsockopt(fd, level, name, &value, sizeof value));
}

// Returns nothing if the fd is no socket, or has no such option, and sets errno.
inline std::optional<int> option_of(int fd, int name) noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(fd, SOL_SOCKET, name, &value, &size) != 0) return std::nullopt;
  return value;
}

// Takes ownership of an open socket of this type, and makes it non-blocking and close-on-exec. On an error the caller
// keeps the fd.
result<descriptor> adopt_socket(int fd, int type) noexcept;

// --- through the backend of a descriptor

// `call` returns an error number, or 0.
template <class Call>
result<void> call_backend(const descriptor& socket, Call call) noexcept {
  const used_fd fd(socket);
  const int error = fd.is_open() ? call(fd.record().system(), fd.record()) : EBADF;
  if (error != 0) return failure_of_transfer(error);
  return {};
}

template <class T>
result<void> set_option(const descriptor& socket, int level, int name, const T& value) noexcept {
  return call_backend(socket, [&](backend& sockets, open_descriptor& record) noexcept {
    return sockets.set_option(record, level, name, &value, sizeof value);
  });
}

// Returns an invalid address if the socket has none.
inline socket_address address_of(const descriptor& socket, socket_side side) noexcept {
  sockaddr_storage address{};
  std::size_t size = sizeof address;
  const result<void> read = call_backend(socket, [&](backend& sockets, open_descriptor& record) noexcept {
    if (side == socket_side::local || record.peer_name().empty())
      return sockets.address_of(record, side, &address, size);
    size = record.peer_name().copy_to(&address);
    return 0;
  });
  return read ? socket_address(&address, size) : socket_address();
}

}}}  // namespace hocket::detail
