// Addresses of internet sockets in 19 bytes.
#include <hocket/io/detail/compact_address.hpp>

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/un.h>

using hocket::detail::compact_address;

namespace {

sockaddr_in6 v6_of(const char* host, std::uint16_t port, std::uint32_t scope) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_scope_id = scope;
  REQUIRE(::inet_pton(AF_INET6, host, &address.sin6_addr) == 1);
  return address;
}

template <class Sockaddr>
compact_address compact(const Sockaddr& address, std::size_t size = sizeof(Sockaddr)) {
  compact_address current;
  current.assign(&address, size);
  return current;
}

template <class Sockaddr>
void check_comes_back(const Sockaddr& address) {
  const compact_address current = compact(address);
  CHECK_FALSE(current.empty());
  std::array<unsigned char, sizeof(sockaddr_in6)> bytes{};
  REQUIRE(current.copy_to(bytes.data()) == sizeof address);
  CHECK(std::memcmp(bytes.data(), &address, sizeof address) == 0);
}

}  // namespace

TEST_CASE("an internet address comes out as it went in") {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  for (const std::uint32_t host : {0u, 1u, 0x7f000001u, 0xffffffffu}) {
    v4.sin_addr.s_addr = htonl(host);
    v4.sin_port = htons(static_cast<std::uint16_t>(host));
    check_comes_back(v4);
  }
  for (const char* host : {"::", "::1", "::ffff:192.0.2.1", "2001:db8::7", "fe80::1", "fe80:0:0:1::1", "ff02::1",
                           "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}) {
    CAPTURE(host);
    check_comes_back(v6_of(host, 65535, 0));
  }
}

TEST_CASE("the scope of a link-local address is kept with it") {
  for (const std::uint32_t scope : {1u, 255u, 65536u, 0xffffffffu}) {
    CAPTURE(scope);
    check_comes_back(v6_of("fe80::1:2:3:4", 80, scope));
    check_comes_back(v6_of("febf::1", 80, scope));
  }
  CHECK_FALSE(compact(v6_of("fe80::1", 80, 1)) == compact(v6_of("fe80::1", 80, 2)));
  CHECK_FALSE(compact(v6_of("fe80::1", 80, 1)) == compact(v6_of("fe80::1", 80, 0)));
}

TEST_CASE("what does not fit is no address, rather than another one") {
  CHECK(compact(v6_of("2001:db8::7", 80, 1)).empty());
  CHECK(compact(v6_of("fe80:0:1::1", 80, 1)).empty());
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  CHECK(compact(path).empty());
  const sockaddr_in6 v6 = v6_of("::1", 80, 0);
  for (std::size_t size = 0; size != sizeof v6; ++size) CHECK(compact(v6, size).empty());
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  for (std::size_t size = 0; size != sizeof v4; ++size) CHECK(compact(v4, size).empty());
  compact_address current = compact(v6);
  current.assign(&path, sizeof path);
  CHECK(current.empty());
  std::array<unsigned char, sizeof(sockaddr_in6)> bytes{};
  CHECK(current.copy_to(bytes.data()) == 0);
}
