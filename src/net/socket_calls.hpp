// Calls on sockets that are no transfers: options and addresses.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <hocket/net/address.hpp>

#include <cerrno>
#include <sys/socket.h>

namespace hocket::inline HOCKET_ABI::detail {

inline result<void> told_of(int returned) noexcept {
  if (returned != 0) return failure_of_transfer(errno);
  return {};
}

template <class T>
result<void> set_option(int number, int level, int name, const T& value) noexcept {
  return told_of(::setsockopt(number, level, name, &value, sizeof value));
}
template <class T>
result<void> set_option(const descriptor& of, int level, int name, const T& value) noexcept {
  const used_number number(of);
  return set_option(*number, level, name, value);
}

// By getsockname or getpeername. Invalid: there is none.
template <class Get>
socket_address address_by(Get get, const descriptor& of) noexcept {
  const used_number number(of);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (get(*number, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return socket_address(&address, size);
}

}  // namespace hocket::inline HOCKET_ABI::detail
