#include <hocket/net/address.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace hocket { inline namespace HOCKET_ABI {

namespace {

constexpr std::size_t path_begins = offsetof(sockaddr_un, sun_path);

std::error_code invalid() noexcept { return std::make_error_code(std::errc::invalid_argument); }

// Parses the whole text as decimal digits.
template <class T>
bool read_number(std::string_view text, T& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// Copies the text, because inet_pton needs a terminated string.
template <class Address>
bool read_host(int family, std::string_view text, Address& host) noexcept {
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.empty() || text.size() >= copy.size() || text.find('\0') != text.npos) return false;
  std::memcpy(copy.data(), text.data(), text.size());
  return ::inet_pton(family, copy.data(), &host) == 1;
}

template <class Sockaddr>
Sockaddr as(const void* bytes) noexcept {
  Sockaddr copy;
  std::memcpy(&copy, bytes, sizeof copy);
  return copy;
}

std::string host_of(int family, const void* host) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, host, text.data(), static_cast<socklen_t>(text.size()));
  return text.data();
}

// An interface whose name is a number is printed by its index: assign_v6() reads digits as an index.
std::string scope_of(std::uint32_t scope) {
  if (scope == 0) return {};
  std::array<char, IF_NAMESIZE> name{};
  std::uint32_t number = 0;
  if (::if_indextoname(scope, name.data()) && !read_number(name.data(), number))
    return std::string("%").append(name.data());
  return std::string("%").append(std::to_string(scope));
}

}  // namespace

socket_address::socket_address(const void* address, std::size_t size) noexcept {
  if (size < sizeof(sa_family_t)) return;
  switch (as<sa_family_t>(address)) {
    case AF_INET:
      if (size >= sizeof(sockaddr_in)) take_v4(address);
      return;
    case AF_INET6:
      if (size >= sizeof(sockaddr_in6)) take_v6(address);
      return;
    case AF_UNIX: take_unix(static_cast<const char*>(address) + path_begins, size - path_begins); return;
    default: return;
  }
}

// Equal addresses have equal bytes: the bytes that are no part of an address are zero.
void socket_address::take_v4(const void* address) noexcept {
  auto copy = as<sockaddr_in>(address);
  std::memset(copy.sin_zero, 0, sizeof copy.sin_zero);
  std::memcpy(bytes_.data(), &copy, size_ = sizeof copy);
}

void socket_address::take_v6(const void* address) noexcept {
  auto copy = as<sockaddr_in6>(address);
  copy.sin6_flowinfo = 0;
  std::memcpy(bytes_.data(), &copy, size_ = sizeof copy);
}

// The length of an abstract name is a part of it. A path ends with its first zero, or at the end of sun_path. A path
// that begins with '@' would have the text of an abstract name, so it becomes "./@name", the same file.
void socket_address::take_unix(const char* name, std::size_t size) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const bool is_abstract = size != 0 && name[0] == '\0';
  if (!is_abstract) size = ::strnlen(name, size);
  if (size > sizeof address.sun_path) return;
  constexpr std::string_view prefix = "./";
  const bool needs_prefix = size != 0 && name[0] == '@' && size + prefix.size() <= sizeof address.sun_path;
  char* to = address.sun_path;
  if (needs_prefix) to = std::copy(prefix.begin(), prefix.end(), to);
  to = std::copy(name, name + size, to);
  const bool ends_with_zero = !is_abstract && size != 0 && to != std::end(address.sun_path);
  size_ = path_begins + static_cast<std::size_t>(to - address.sun_path) + (ends_with_zero ? 1 : 0);
  std::memcpy(bytes_.data(), &address, size_);
}

result<socket_address> socket_address::parse(std::string_view text) noexcept {
  socket_address parsed;
  const std::error_code error = parsed.assign(text);
  if (error) return failure(error);
  return parsed;
}

socket_address socket_address::any_v4(std::uint16_t port) noexcept {
  return socket_address("0.0.0.0:0").with_port(port);
}
socket_address socket_address::any_v6(std::uint16_t port) noexcept { return socket_address("[::]:0").with_port(port); }
socket_address socket_address::loopback_v4(std::uint16_t port) noexcept {
  return socket_address("127.0.0.1:0").with_port(port);
}
socket_address socket_address::loopback_v6(std::uint16_t port) noexcept {
  return socket_address("[::1]:0").with_port(port);
}

std::error_code socket_address::assign(std::string_view text) noexcept {
  constexpr std::string_view unix_prefix = "unix:";
  if (text.substr(0, unix_prefix.size()) == unix_prefix) return assign_unix(text.substr(unix_prefix.size()));
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  if (colon == text.npos || !read_number(text.substr(colon + 1), port)) return invalid();
  const std::string_view host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return assign_v6(host.substr(1, host.size() - 2), port);
  return assign_v4(host, port);
}

std::error_code socket_address::assign_v4(std::string_view host, std::uint16_t port) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (!read_host(AF_INET, host, address.sin_addr)) return invalid();
  *this = socket_address(&address, sizeof address);
  return {};
}

std::error_code socket_address::assign_v6(std::string_view host, std::uint16_t port) noexcept {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  const std::size_t percent = host.find('%');
  if (!read_host(AF_INET6, host.substr(0, percent), address.sin6_addr)) return invalid();
  if (percent != host.npos) {
    const std::string_view scope = host.substr(percent + 1);
    if (!read_number(scope, address.sin6_scope_id)) {
      std::array<char, IF_NAMESIZE> name{};
      if (scope.empty() || scope.size() >= name.size()) return invalid();
      std::memcpy(name.data(), scope.data(), scope.size());
      address.sin6_scope_id = ::if_nametoindex(name.data());
      if (address.sin6_scope_id == 0) return std::make_error_code(std::errc::no_such_device);
    }
  }
  *this = socket_address(&address, sizeof address);
  return {};
}

// "@name" is the abstract "\0name". An empty path is the address of an unnamed socket.
std::error_code socket_address::assign_unix(std::string_view path) noexcept {
  std::array<char, sizeof(sockaddr_un::sun_path)> name{};
  const bool is_abstract = !path.empty() && path.front() == '@';
  if (!is_abstract && path.find('\0') != path.npos) return invalid();
  if (path.size() > name.size()) return std::make_error_code(std::errc::filename_too_long);
  std::copy(path.begin(), path.end(), name.begin());
  if (is_abstract) name.front() = '\0';
  take_unix(name.data(), path.size());
  return {};
}

socket_address::family socket_address::kind() const noexcept {
  if (!is_valid()) return family::none;
  switch (as<sa_family_t>(data())) {
    case AF_INET: return family::v4;
    case AF_INET6: return family::v6;
    case AF_UNIX: return family::unix_path;
    default: return family::none;
  }
}

bool socket_address::is_loopback() const noexcept {
  switch (kind()) {
    case family::v4: return (ntohl(as<sockaddr_in>(data()).sin_addr.s_addr) >> 24) == 127;
    case family::v6: {
      const auto address = as<sockaddr_in6>(data());
      const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&address.sin6_addr);
      return is_mapped ? address.sin6_addr.s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(&address.sin6_addr);
    }
    case family::unix_path: return true;
    case family::none: return false;
  }
  return false;
}

bool socket_address::is_unnamed() const noexcept { return kind() == family::unix_path && size_ == path_begins; }

// sin_port and sin6_port have the same offset.
std::uint16_t socket_address::port() const noexcept {
  const family own_family = kind();
  return own_family == family::v4 || own_family == family::v6 ? ntohs(as<sockaddr_in>(data()).sin_port)
                                                              : std::uint16_t{0};
}

socket_address socket_address::with_port(std::uint16_t port) const noexcept {
  socket_address other = *this;
  const family own_family = kind();
  if (own_family == family::v4 || own_family == family::v6) {
    const std::uint16_t in_network_order = htons(port);
    std::memcpy(other.bytes_.data() + offsetof(sockaddr_in, sin_port), &in_network_order, sizeof in_network_order);
  }
  return other;
}

std::string socket_address::to_string() const {
  switch (kind()) {
    case family::v4: {
      const auto address = as<sockaddr_in>(data());
      return host_of(AF_INET, &address.sin_addr).append(":").append(std::to_string(port()));
    }
    case family::v6: {
      const auto address = as<sockaddr_in6>(data());
      std::string text = "[";
      return text.append(host_of(AF_INET6, &address.sin6_addr))
          .append(scope_of(address.sin6_scope_id))
          .append("]:")
          .append(std::to_string(port()));
    }
    case family::unix_path: {
      std::string path(reinterpret_cast<const char*>(bytes_.data()) + path_begins, size_ - path_begins);
      if (path.empty()) return "unix:";
      if (path.front() == '\0') path.front() = '@';
      else if (path.back() == '\0') path.pop_back();
      return path.insert(0, "unix:");
    }
    case family::none: break;
  }
  return {};
}

bool operator==(const socket_address& a, const socket_address& b) noexcept {
  return a.size_ == b.size_ && std::memcmp(a.data(), b.data(), a.size_) == 0;
}

}}  // namespace hocket
