// Addresses of sockets: text there and back, and what is no address.
#include <hocket/net/address.hpp>

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <sys/un.h>
#include <vector>

using hocket::socket_address;

namespace {

// Of a sockaddr_un that has this as its name.
socket_address address_of_name(std::string_view name) {
  std::vector<char> bytes(offsetof(sockaddr_un, sun_path) + name.size());
  const sa_family_t family = AF_UNIX;
  std::memcpy(bytes.data(), &family, sizeof family);
  std::copy(name.begin(), name.end(), bytes.begin() + offsetof(sockaddr_un, sun_path));
  return {bytes.data(), bytes.size()};
}

socket_address v6_address(const char* text, std::uint32_t scope, std::uint32_t flow = 0) {
  const socket_address parsed(text);
  sockaddr_in6 address{};
  std::memcpy(&address, parsed.data(), sizeof address);
  address.sin6_scope_id = scope;
  address.sin6_flowinfo = flow;
  return {&address, sizeof address};
}

void check_parses_from_its_text(const socket_address& current) {
  const std::string text = current.to_string();
  CAPTURE(text);
  REQUIRE(current.is_valid());
  const auto parsed = socket_address::parse(text);
  REQUIRE(parsed.has_value());
  CHECK(*parsed == current);
  CHECK(parsed->to_string() == text);
  CHECK(socket_address(current.data(), current.size()) == current);
}

}  // namespace

TEST_CASE("an address of the system parses from its own text, whatever its family and its bytes") {
  check_parses_from_its_text("0.0.0.0:0");
  check_parses_from_its_text("255.255.255.255:65535");
  check_parses_from_its_text("[::ffff:127.0.0.1]:80");
  check_parses_from_its_text(v6_address("[fe80::1]:80", ::if_nametoindex("lo")));
  check_parses_from_its_text(v6_address("[fe80::1]:80", 0xffff'fff0));  // no interface has this number
  for (const std::size_t size : {1u, 2u, 13u, 105u, 106u, 107u, 108u}) {
    CAPTURE(size);
    check_parses_from_its_text(address_of_name(std::string(size, 'p')));
    check_parses_from_its_text(address_of_name('@' + std::string(std::min<std::size_t>(size - 1, 105), 'p')));
    check_parses_from_its_text(address_of_name('\0' + std::string(size - 1, 'a')));
    check_parses_from_its_text(address_of_name(std::string(size, '\0')));
  }
  std::string every_byte(1, '\0');
  for (int byte = 0; byte != 256; ++byte) {
    every_byte += static_cast<char>(byte);
    if (every_byte.size() != 108) continue;
    check_parses_from_its_text(address_of_name(every_byte));
    every_byte.resize(1);
  }
  check_parses_from_its_text(address_of_name(every_byte));
  check_parses_from_its_text(address_of_name({}));
  CHECK(address_of_name({}).is_unnamed());
  CHECK_FALSE(address_of_name(std::string_view("\0", 1)).is_unnamed());
}

TEST_CASE("bytes of a sockaddr that are no part of its address do not make it another") {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(80);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memset(v4.sin_zero, 0x5a, sizeof v4.sin_zero);
  CHECK(socket_address(&v4, sizeof v4) == socket_address("127.0.0.1:80"));
  CHECK(v6_address("[::1]:80", 0, htonl(7)) == socket_address("[::1]:80"));
  CHECK(address_of_name(std::string_view("path\0", 5)) == socket_address("unix:path"));
  CHECK(address_of_name(std::string_view("path\0rest", 9)) == socket_address("unix:path"));
  CHECK(address_of_name("path") == socket_address("unix:path"));
  sockaddr_storage much{};
  std::memcpy(&much, &v4, sizeof v4);
  CHECK(socket_address(&much, sizeof much) == socket_address("127.0.0.1:80"));
}

TEST_CASE("a sockaddr that is shorter than its family needs is no address") {
  for (const char* text : {"127.0.0.1:80", "[::1]:80"}) {
    const socket_address whole(text);
    for (std::size_t size = 0; size != whole.size(); ++size) {
      CAPTURE(size);
      CHECK_FALSE(socket_address(whole.data(), size).is_valid());
    }
  }
  const sa_family_t others[] = {AF_UNSPEC, AF_PACKET, AF_NETLINK};
  for (const sa_family_t& current : others) CHECK_FALSE(socket_address(&current, sizeof current).is_valid());
  const char byte = AF_UNIX;
  CHECK_FALSE(socket_address(&byte, 1).is_valid());
  CHECK_FALSE(address_of_name(std::string(109, 'p')).is_valid());
  CHECK_FALSE(address_of_name(std::string(109, '\0')).is_valid());
}

TEST_CASE("a loopback is one in each family, and as an IPv4 address in IPv6") {
  for (const char* text : {"127.0.0.1:1", "127.255.255.254:1", "[::1]:1", "[::ffff:127.0.0.1]:1",
                           "[::ffff:127.1.2.3]:1", "unix:path", "unix:@name", "unix:"}) {
    CAPTURE(text);
    CHECK(socket_address(text).is_loopback());
  }
  for (const char* text : {"126.0.0.1:1", "128.0.0.1:1", "0.0.0.0:1", "[::]:1", "[::2]:1", "[::127.0.0.1]:1",
                           "[::ffff:126.0.0.1]:1", "[::ffff:192.0.2.127]:1", "[fe80::1]:1", "[::1:ffff:7f00:1]:1"}) {
    CAPTURE(text);
    CHECK(socket_address(text).is_valid());
    CHECK_FALSE(socket_address(text).is_loopback());
  }
}

TEST_CASE("what an address is printed as is parsed as the same address") {
  for (const char* text : {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:443", "[::]:1",
                           "[2001:db8::7]:9", "unix:/run/app.sock", "unix:relative", "unix:@abstract"}) {
    const auto parsed = socket_address::parse(text);
    REQUIRE(parsed.has_value());
    CHECK(parsed->to_string() == text);
    CHECK(socket_address(parsed->data(), parsed->size()) == *parsed);
  }
  CHECK(socket_address("[0:0:0:0:0:0:0:1]:7").to_string() == "[::1]:7");
}

TEST_CASE("what is no address is told") {
  for (const char* text : {"",
                           ":",
                           ":80",
                           "127.0.0.1",
                           "127.0.0.1:",
                           "127.0.0.1:-1",
                           "127.0.0.1:+1",
                           "127.0.0.1:65536",
                           "127.0.0.1:8 0",
                           "127.0.0.1:0x50",
                           "1.2.3:80",
                           "1.2.3.4.5:80",
                           "localhost:80",
                           "::1:80",
                           "[::1]",
                           "[::1]80",
                           "[]:80",
                           "[::1%]:80",
                           "[127.0.0.1]:80",
                           "unix"}) {
    CAPTURE(text);
    CHECK_FALSE(socket_address(text).is_valid());
    CHECK(socket_address::parse(text).error() == std::errc::invalid_argument);
  }
  for (const char first : {'a', '@'}) {
    CHECK(socket_address::parse("unix:" + (first + std::string(107, 'a'))).has_value());
    CHECK(socket_address::parse("unix:" + (first + std::string(108, 'a'))).error() == std::errc::filename_too_long);
  }
  CHECK(socket_address::parse("[fe80::1%no-such-device]:1").error() == std::errc::no_such_device);
  CHECK(socket_address::parse(std::string_view("unix:a\0b", 8)).error() == std::errc::invalid_argument);
}

TEST_CASE("the parts of an address can be asked and changed") {
  const socket_address v4 = socket_address::loopback_v4(80), v6 = socket_address::any_v6(81);
  CHECK(v4 == socket_address("127.0.0.1:80"));
  CHECK(v4.kind() == socket_address::family::v4);
  CHECK(v4.is_loopback());
  CHECK(v6 == socket_address("[::]:81"));
  CHECK_FALSE(v6.is_loopback());
  CHECK(v6.port() == 81);
  CHECK(v6.with_port(82) == socket_address("[::]:82"));
  CHECK(socket_address::any_v4(1) == socket_address("0.0.0.0:1"));
  CHECK(socket_address::loopback_v6(2).is_loopback());
  const socket_address path("unix:folder/x");
  CHECK(path.kind() == socket_address::family::unix_path);
  CHECK(path.port() == 0);
  CHECK(path.with_port(9) == path);
  CHECK(path != socket_address("unix:@folder/x"));
  CHECK_FALSE(socket_address().is_valid());
  CHECK(socket_address().to_string().empty());
}
