// Addresses of sockets: text there and back, and what is no address.
#include <hocket/net/address.hpp>

#include <doctest/doctest.h>
#include <string>

using hocket::socket_address;

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
                           "unix:"}) {
    CAPTURE(text);
    CHECK_FALSE(socket_address(text).is_valid());
    CHECK(socket_address::parse(text).error() == std::errc::invalid_argument);
  }
  CHECK(socket_address::parse("unix:" + std::string(107, 'a')).has_value());
  CHECK(socket_address::parse("unix:" + std::string(108, 'a')).error() == std::errc::filename_too_long);
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
