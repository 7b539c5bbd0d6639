// Calls on sockets that are no transfers: options and addresses.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <hocket/net/address.hpp>

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// --- on an fd that is no descriptor yet

inline result<void> told_of(int returned) noexcept {
  if (returned != 0) return failure_of_transfer(errno);
  return {};
}

template <class T>
result<void> set_option(int fd, int level, int name, const T& value) noexcept {
  return told_of(::setsockopt(fd, level, name, &value, sizeof value));
}

// Empty: the fd is no socket, or has no such option; errno says why.
inline std::optional<int> option_of(int fd, int name) noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(fd, SOL_SOCKET, name, &value, &size) != 0) return std::nullopt;
  return value;
}

// Takes ownership of a socket of this type that others have opened: from now on it does not block and is closed on
// exec. On an error the caller keeps it.
result<descriptor> adopt_socket(int fd, int type) noexcept;

// --- by the backend of a descriptor

// `call` gives an error number, or 0.
template <class Call>
result<void> by_backend(const descriptor& of, Call call) noexcept {
  const used_fd fd(of);
  const int error = fd.is_open() ? call(fd.record().system(), fd.record()) : EBADF;
  if (error != 0) return failure_of_transfer(error);
  return {};
}

template <class T>
result<void> set_option(const descriptor& of, int level, int name, const T& value) noexcept {
  return by_backend(of, [&](backend& by, open_descriptor& at) noexcept {
    return by.set_option(at, level, name, &value, sizeof value);
  });
}

// Invalid: there is none.
inline socket_address address_of(const descriptor& of, socket_side which) noexcept {
  sockaddr_storage address{};
  std::size_t size = sizeof address;
  const result<void> told = by_backend(of, [&](backend& by, open_descriptor& at) noexcept {
    if (which == socket_side::local || at.peer_name().empty()) return by.address_of(at, which, &address, size);
    size = at.peer_name().copy_to(&address);
    return 0;
  });
  return told ? socket_address(&address, size) : socket_address();
}

}}}  // namespace hocket::detail
