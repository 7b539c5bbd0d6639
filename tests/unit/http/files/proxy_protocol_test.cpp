// The PROXY protocol: complete, incomplete and refused headers.
#include <hocket/http/detail/proxy_protocol.hpp>

#include <doctest/doctest.h>
#include <initializer_list>
#include <string>

using hocket::socket_address;
using hocket::http::detail::proxy_header;
using outcome = proxy_header::outcome;

namespace {

const std::string signature("\r\n\r\n\0\r\nQUIT\n", 12);

std::string binary(unsigned command, unsigned family, const std::string& block) {
  std::string bytes = signature;
  bytes += static_cast<char>(command);
  bytes += static_cast<char>(family);
  bytes += static_cast<char>(block.size() >> 8);
  bytes += static_cast<char>(block.size() & 0xFF);
  return bytes + block;
}

std::string v4_block() { return {"\xC0\x00\x02\x01\xC6\x33\x64\x02\x10\x00\x01\xBB", 12}; }

std::string v6_block() {
  std::string block(36, '\0');
  block[0] = 0x20, block[1] = 0x01, block[15] = 1;
  block[16] = 0x20, block[17] = 0x02, block[31] = 2;
  block[32] = 0x10, block[33] = 0x00, block[34] = 0x01, block[35] = static_cast<char>(0xBB);
  return block;
}

}  // namespace

TEST_CASE("a header of version 1 gives the addresses of the client and of the server") {
  struct row {
    std::string_view line, source, destination;
  };
  for (const row& current : {
           row{"PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n", "192.0.2.1:56324", "198.51.100.2:443"},
           row{"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255:65535",
               "255.255.255.255:65535"},
           row{"PROXY TCP4 10.0.0.1 10.0.0.2 0 1\r\n", "10.0.0.1:0", "10.0.0.2:1"},
           row{"PROXY TCP6 2001:db8::1 ::1 1 2\r\n", "[2001:db8::1]:1", "[::1]:2"},
       }) {
    CAPTURE(current.line);
    const proxy_header header = proxy_header::parse(std::string(current.line) + "GET / HTTP/1.1\r\n");
    REQUIRE(header.result == outcome::complete);
    CHECK(header.size == current.line.size());
    CHECK(header.source == socket_address(current.source));
    CHECK(header.destination == socket_address(current.destination));
  }
}

TEST_CASE("a header of version 2 gives the addresses, and its further values are skipped") {
  for (const std::string& values : {std::string(), std::string("\x04\x00\x01\x00", 4), std::string(1000, 'x')}) {
    const std::string v4 = binary(0x21, 0x11, v4_block() + values);
    const proxy_header header = proxy_header::parse(v4 + "GET");
    REQUIRE(header.result == outcome::complete);
    CHECK(header.size == v4.size());
    CHECK(header.source == socket_address("192.0.2.1:4096"));
    CHECK(header.destination == socket_address("198.51.100.2:443"));

    const proxy_header v6 = proxy_header::parse(binary(0x21, 0x21, v6_block() + values));
    REQUIRE(v6.result == outcome::complete);
    CHECK(v6.source == socket_address("[2001::1]:4096"));
    CHECK(v6.destination == socket_address("[2002::2]:443"));
  }
}

TEST_CASE("a header without addresses is complete, and the peer of the connection counts") {
  for (const std::string& bytes :
       {std::string("PROXY UNKNOWN\r\n"), std::string("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), binary(0x20, 0x00, ""),
        binary(0x20, 0x11, v4_block()), binary(0x20, 0x12, ""), binary(0x21, 0x00, ""), binary(0x21, 0x00, "abc"),
        binary(0x21, 0x31, std::string(216, 'p'))}) {
    CAPTURE(bytes);
    const proxy_header header = proxy_header::parse(bytes);
    CHECK(header.result == outcome::complete);
    CHECK(header.size == bytes.size());
    CHECK_FALSE(header.source.is_valid());
  }
}

TEST_CASE("each proper prefix of a header is incomplete") {
  for (const std::string& bytes :
       {std::string("PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n"), std::string("PROXY UNKNOWN\r\n"),
        binary(0x21, 0x11, v4_block() + "abc"), binary(0x20, 0x00, "")}) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(size);
      CHECK(proxy_header::parse(bytes.substr(0, size)).result == outcome::incomplete);
    }
  }
}

TEST_CASE("a malformed header is refused") {
  for (const std::string& bytes : {
           std::string("GET / HTTP/1.1\r\n"),
           std::string("\n"),
           std::string("proxy TCP4 192.0.2.1 198.51.100.2 1 2\r\n"),
           std::string("PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n"),
           std::string("PROXY TCP4 192.0.2.1 198.51.100.2 1 2 3\r\n"),
           std::string("PROXY TCP4  192.0.2.1 198.51.100.2 1 2\r\n"),
           std::string("PROXY TCP4 192.0.2.1 198.51.100.2 1 65536\r\n"),
           std::string("PROXY TCP4 192.0.2.1 198.51.100.2 -1 2\r\n"),
           std::string("PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n"),
           std::string("PROXY TCP4 192.0.2.256 198.51.100.2 1 2\r\n"),
           std::string("PROXY TCP4 ::1 ::1 1 2\r\n"),
           std::string("PROXY TCP6 192.0.2.1 192.0.2.1 1 2\r\n"),
           std::string("PROXY TCP6 fe80::1%lo ::1 1 2\r\n"),
           std::string("PROXY TCP6 ]:1 ::1 1 2\r\n"),
           std::string("PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n"),
           std::string("PROXY \r\n"),
           std::string("PROXY TCP4 192.0.2.1 198.51.100.2 1 2\rX"),
           std::string("PROXY TCP4 192.0.2.1 198.51.100.2 1 2\n\r\n"),
           std::string("PROXY UNKNOWN ") + std::string(200, 'x') + "\r\n",
           std::string("PROXY UNKNOWN ") + std::string(92, 'x') + "\r\n",
       }) {
    CAPTURE(bytes);
    CHECK(proxy_header::parse(bytes).result == outcome::refused);
  }
  for (const std::string& bytes : {
           binary(0x11, 0x11, v4_block()),                                     // version 1 in the binary form
           binary(0x31, 0x11, v4_block()),                                     // version 3
           binary(0x22, 0x11, v4_block()),                                     // an unknown command
           binary(0x21, 0x41, v4_block()),                                     // an unknown family
           binary(0x21, 0x13, v4_block()),                                     // an unknown transport
           binary(0x21, 0x12, v4_block()),                                     // datagrams
           binary(0x21, 0x11, v4_block().substr(1)),                           // a byte is missing
           binary(0x21, 0x11, ""),                                             // no addresses
           binary(0x21, 0x21, v4_block()),                                     // the addresses of another family
           binary(0x21, 0x31, std::string(215, 'p')),                          // a byte of a path is missing
           binary(0x21, 0x11, std::string(proxy_header::max_size - 15, 'x')),  // beyond the limit
           binary(0x20, 0x00, std::string(65535, 'x')),                        // beyond the limit
           std::string("\r\n\r\n\0\r\nQUIT\r", 12),
       }) {
    CHECK(proxy_header::parse(bytes).result == outcome::refused);
  }
}
