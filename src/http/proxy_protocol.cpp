#include <hocket/http/detail/proxy_protocol.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/un.h>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace {

using header_outcome = proxy_header::outcome;

constexpr std::string_view proxy_signature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::string_view proxy_text_prefix = "PROXY ";
constexpr std::size_t max_proxy_text = 107;
constexpr std::size_t proxy_fixed_size = 16;  // signature, version and command, family, length

proxy_header refused_header() noexcept { return {.result = header_outcome::refused}; }

// Whether the bytes can still become a text that begins with `expected`.
bool begins_like(std::string_view bytes, std::string_view expected) noexcept {
  const std::size_t size = std::min(bytes.size(), expected.size());
  return bytes.substr(0, size) == expected.substr(0, size);
}

// --- version 1

std::optional<std::uint16_t> parse_proxy_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, port);
  const bool has_leading_zero = text.size() > 1 && text.front() == '0';
  if (parsed.ec != std::errc() || parsed.ptr != end || has_leading_zero) return {};
  return port;
}

// An address without an interface: "fe80::1%eth0" is refused.
socket_address parse_proxy_host(std::string_view host, std::string_view port_text,
                                socket_address::family family) noexcept {
  const auto port = parse_proxy_port(port_text);
  if (!port || host.size() > 45 || host.find('%') != host.npos) return {};
  std::array<char, 64> text{};
  char* end = text.data();
  const auto append = [&](std::string_view part) { end = std::copy(part.begin(), part.end(), end); };
  const bool is_v6 = family == socket_address::family::v6;
  append(is_v6 ? "[" : "");
  append(host);
  append(is_v6 ? "]:" : ":");
  append(port_text);
  const socket_address address(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
  return address.kind() == family ? address : socket_address();
}

// The text before the next blank; the blank is removed, too.
std::string_view take_word(std::string_view& rest) noexcept {
  const std::size_t blank = rest.find(' ');
  const std::string_view word = rest.substr(0, blank);
  rest = blank == rest.npos ? std::string_view() : rest.substr(blank + 1);
  return word;
}

// `rest` is the line behind "PROXY ".
proxy_header parse_line(std::string_view rest, std::size_t size) noexcept {
  const std::string_view protocol = take_word(rest);
  if (protocol == "UNKNOWN") return {.result = header_outcome::complete, .size = size};
  if (protocol != "TCP4" && protocol != "TCP6") return refused_header();
  const auto family = protocol == "TCP4" ? socket_address::family::v4 : socket_address::family::v6;
  const std::string_view source = take_word(rest);
  const std::string_view destination = take_word(rest);
  const std::string_view source_port = take_word(rest);
  proxy_header header{.result = header_outcome::complete,
                      .size = size,
                      .source = parse_proxy_host(source, source_port, family),
                      .destination = parse_proxy_host(destination, rest, family)};
  return header.source.is_valid() && header.destination.is_valid() ? header : refused_header();
}

proxy_header parse_text(std::string_view bytes) noexcept {
  const std::string_view line = bytes.substr(0, max_proxy_text);
  const std::size_t end = line.find('\r');
  if (end == line.npos) return line.size() == max_proxy_text ? refused_header() : proxy_header();
  if (end + 1 == line.size()) return line.size() == max_proxy_text ? refused_header() : proxy_header();
  if (line[end + 1] != '\n') return refused_header();
  return parse_line(line.substr(proxy_text_prefix.size(), end - proxy_text_prefix.size()), end + 2);
}

// --- version 2

// The address of a family in network order, without padding.
socket_address copy_v4(const char* host, const char* port) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::memcpy(&address.sin_addr, host, 4);
  std::memcpy(&address.sin_port, port, 2);
  return {&address, sizeof address};
}
socket_address copy_v6(const char* host, const char* port) noexcept {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  std::memcpy(&address.sin6_addr, host, 16);
  std::memcpy(&address.sin6_port, port, 2);
  return {&address, sizeof address};
}

// `block` are the bytes behind the fixed part. False: the block is too short.
bool copy_addresses(proxy_header& header, unsigned family, std::string_view block) noexcept {
  constexpr std::size_t size_v4 = 12, size_v6 = 36, size_unix = 216;
  const char* const at = block.data();
  switch (family) {
    case 0x1:
      if (block.size() < size_v4) return false;
      header.source = copy_v4(at, at + 8);
      header.destination = copy_v4(at + 4, at + 10);
      return true;
    case 0x2:
      if (block.size() < size_v6) return false;
      header.source = copy_v6(at, at + 32);
      header.destination = copy_v6(at + 16, at + 34);
      return true;
    case 0x3: return block.size() >= size_unix;  // paths of the proxy's machine: no addresses here
    default: return family == 0;                 // AF_UNSPEC
  }
}

proxy_header parse_binary(std::string_view bytes) noexcept {
  if (bytes.size() < proxy_fixed_size) return {};
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[i])); };
  const unsigned version = byte_at(12) >> 4, command = byte_at(12) & 0xF;
  const unsigned family = byte_at(13) >> 4, transport = byte_at(13) & 0xF;
  const std::size_t size = proxy_fixed_size + (byte_at(14) << 8) + byte_at(15);
  if (version != 2 || command > 1 || family > 3 || transport > 2 || size > proxy_header::max_size)
    return refused_header();
  if (bytes.size() < size) return {};
  proxy_header header{.result = header_outcome::complete, .size = size};
  const bool is_local = command == 0;
  const bool is_datagram = transport == 2;
  if (is_local) return header;
  if (is_datagram || !copy_addresses(header, family, bytes.substr(proxy_fixed_size, size - proxy_fixed_size)))
    return refused_header();
  return header;
}

}  // namespace

proxy_header proxy_header::parse(std::string_view bytes) noexcept {
  if (begins_like(bytes, proxy_signature))
    return bytes.size() < proxy_signature.size() ? proxy_header() : parse_binary(bytes);
  if (begins_like(bytes, proxy_text_prefix))
    return bytes.size() < proxy_text_prefix.size() ? proxy_header() : parse_text(bytes);
  return refused_header();
}

}}}  // namespace hocket::http::detail
