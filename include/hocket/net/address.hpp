// The address of a socket: IPv4 or IPv6 with a port, or a name in the file system or in the abstract space of unix
// sockets.
//
//   "127.0.0.1:80"   "[::1]:80"   "[fe80::1%eth0]:80"   "unix:/run/app.sock"   "unix:@app"
//
// Names of hosts are not resolved here: to_string() and parse() are the inverse of each other. An address that is made
// of text implicitly, as in tcp::connect("[::1]:80"), tells of malformed text where it is used: invalid_argument.
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

  socket_address() noexcept = default;  // of nothing; invalid
  socket_address(std::string_view text) noexcept { static_cast<void>(assign(text)); }
  socket_address(const char* text) noexcept : socket_address(std::string_view(text)) {}
  socket_address(const std::string& text) noexcept : socket_address(std::string_view(text)) {}
  // A sockaddr of the system's. Of another family: invalid.
  socket_address(const void* of, std::size_t size) noexcept;

  // Errors: invalid_argument; filename_too_long for a unix path of more than 107 bytes; no_such_device for the name of
  // a network interface that does not exist.
  static result<socket_address> parse(std::string_view text) noexcept;

  static socket_address any_v4(std::uint16_t port) noexcept;  // 0.0.0.0
  static socket_address any_v6(std::uint16_t port) noexcept;  // [::], IPv4 too
  static socket_address loopback_v4(std::uint16_t port) noexcept;
  static socket_address loopback_v6(std::uint16_t port) noexcept;

  bool is_valid() const noexcept { return size_ != 0; }
  family kind() const noexcept;
  bool is_loopback() const noexcept;
  // 0 for unix sockets. The port of an address that was bound with port 0 is asked of the socket.
  std::uint16_t port() const noexcept;
  // This host with another port. A unix socket stays as it is.
  socket_address with_port(std::uint16_t port) const noexcept;
  // "": it is of nothing. "unix:" alone is a socket without a name.
  std::string to_string() const;

  // As the system wants it.
  const void* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return size_; }

  friend bool operator==(const socket_address& a, const socket_address& b) noexcept;

 private:
  friend struct detail::datagram_access;
  std::error_code assign(std::string_view text) noexcept;
  std::error_code assign_v4(std::string_view host, std::uint16_t port) noexcept;
  std::error_code assign_v6(std::string_view host, std::uint16_t port) noexcept;
  std::error_code assign_unix(std::string_view path) noexcept;

  static constexpr std::size_t most = 112;  // a sockaddr_un has 110 bytes
  alignas(std::size_t) std::array<unsigned char, most> bytes_{};
  std::size_t size_ = 0;
};

}}  // namespace hocket
