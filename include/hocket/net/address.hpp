// Addresses of sockets: IPv4 or IPv6 with a port, or the name of a unix socket in the file system or in the abstract
// space.
//
//   "127.0.0.1:80"   "[::1]:80"   "[fe80::1%eth0]:80"   "unix:/run/app.sock"   "unix:@app"
//
// Host names are not resolved. Each address parses from its own text: parse(a.to_string()) is a. (The text of an
// abstract unix name has the bytes of the name, also zeros.)
//
// Errors. A text converts to an address implicitly, as in tcp::connect("[::1]:80"). If the text is malformed, the
// function that uses the address fails with invalid_argument. The error does not contain the text. To report the text:
//
//   auto address = socket_address::parse(text);
//   if (!address) std::fprintf(stderr, "%s: %s\n", text, address.error().message().c_str());
#pragma once
#include <hocket/base/result.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
struct datagram_access;
}  // namespace detail

// An address and port, or the name of a unix socket.
class socket_address {
 public:
  enum class family : std::uint8_t { none, v4, v6, unix_path };

  socket_address() noexcept = default;  // invalid
  socket_address(std::string_view text) noexcept { static_cast<void>(assign(text)); }
  socket_address(const char* text) noexcept : socket_address(std::string_view(text)) {}
  socket_address(const std::string& text) noexcept : socket_address(std::string_view(text)) {}
  // Copies a sockaddr of the system. The address is invalid if the family is another, or if `size` is less than the
  // family needs. The flow label of IPv6 is no part of an address.
  socket_address(const void* address, std::size_t size) noexcept;

  // Errors: invalid_argument; filename_too_long for a unix path of more than 108 bytes; no_such_device for an unknown
  // network interface.
  static result<socket_address> parse(std::string_view text) noexcept;

  static socket_address any_v4(std::uint16_t port) noexcept;  // 0.0.0.0
  static socket_address any_v6(std::uint16_t port) noexcept;  // [::], also for IPv4
  static socket_address loopback_v4(std::uint16_t port) noexcept;
  static socket_address loopback_v6(std::uint16_t port) noexcept;

  bool is_valid() const noexcept { return size_ != 0; }
  family kind() const noexcept;
  // 127.0.0.0/8, also as an IPv4 address in IPv6 (a client of a listener for both); ::1; any unix socket.
  bool is_loopback() const noexcept;
  // "unix:", the address of a unix socket that was not bound. Calls that bind or connect refuse it: invalid_argument.
  bool is_unnamed() const noexcept;
  // The port; 0 for unix sockets. After a bind to port 0, local_address() of the socket has the port.
  std::uint16_t port() const noexcept;
  // This host with another port. The address of a unix socket is unchanged.
  socket_address with_port(std::uint16_t port) const noexcept;
  // "" for an invalid address.
  std::string to_string() const;

  // The sockaddr for system calls.
  const void* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return size_; }

  friend bool operator==(const socket_address& a, const socket_address& b) noexcept;

 private:
  friend struct detail::datagram_access;
  std::error_code assign(std::string_view text) noexcept;
  std::error_code assign_v4(std::string_view host, std::uint16_t port) noexcept;
  std::error_code assign_v6(std::string_view host, std::uint16_t port) noexcept;
  std::error_code assign_unix(std::string_view path) noexcept;
  void take_v4(const void* address) noexcept;
  void take_v6(const void* address) noexcept;
  void take_unix(const char* name, std::size_t size) noexcept;

  static constexpr std::size_t max_size = 112;  // a sockaddr_un has 110 bytes
  alignas(std::size_t) std::array<unsigned char, max_size> bytes_{};
  std::size_t size_ = 0;
};

}}  // namespace hocket
