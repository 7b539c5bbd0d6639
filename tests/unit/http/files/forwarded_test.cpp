// The client behind proxies: trusted networks, X-Forwarded-For and Forwarded.
#include <hocket/http/detail/forwarded.hpp>

#include <doctest/doctest.h>
#include <initializer_list>
#include <ostream>
#include <string>

using hocket::socket_address;
using hocket::http::proxy_field;
using hocket::http::detail::find_client;
using hocket::http::detail::forwarded_client;
using hocket::http::detail::trusted_proxies;

namespace {

trusted_proxies parse(std::string_view list) { return trusted_proxies::parse(list).value(); }

// The client of a peer at 10.0.0.1, which is trusted, as all of 10.0.0.0/8.
forwarded_client client_behind(std::string_view list, proxy_field kind, std::string_view scheme = {}) {
  static const trusted_proxies trusted = parse("10.0.0.0/8");
  return find_client("10.0.0.1:5000", trusted, kind, {.list = list, .scheme = scheme});
}

}  // namespace

TEST_CASE("a list of networks contains their addresses and no others") {
  const trusted_proxies all = parse("10.0.0.0/8, 192.0.2.7 fd00::/8,\t::1, 198.51.100.64/26");
  for (const char* peer :
       {"10.0.0.0:1", "10.255.255.255:65535", "192.0.2.7:80", "[fd00::1]:1", "[fdff:ffff::]:1", "[::1]:1",
        "198.51.100.64:1", "198.51.100.127:1", "[::ffff:10.1.2.3]:1", "[::ffff:192.0.2.7]:1"}) {
    CAPTURE(peer);
    CHECK(all.contains(peer));
  }
  for (const char* peer :
       {"9.255.255.255:1", "11.0.0.0:1", "192.0.2.6:80", "192.0.2.8:80", "[fc00::1]:1", "[fe00::]:1", "[::2]:1",
        "198.51.100.63:1", "198.51.100.128:1", "[::ffff:11.0.0.1]:1", "[::10.0.0.1]:1", "unix:/run/proxy", "unix:"}) {
    CAPTURE(peer);
    CHECK_FALSE(all.contains(peer));
  }
  CHECK_FALSE(all.contains(socket_address()));
  CHECK(parse("0.0.0.0/0").contains("203.0.113.9:1"));
  CHECK_FALSE(parse("0.0.0.0/0").contains("[2001:db8::1]:1"));
  CHECK(parse("::/0").contains("203.0.113.9:1"));
  CHECK(parse("unix").contains("unix:"));
  CHECK(parse("unix").contains("unix:/run/proxy"));
  CHECK(parse("").empty());
  CHECK(parse(" , ").empty());
  CHECK_FALSE(parse("unix").empty());
}

TEST_CASE("a malformed list of networks is refused") {
  for (std::string_view list :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.1/8", "fd00::1/8", "::/129", "localhost",
        "10.0.0.0.0", "10.0.0", "[::1]", "10.0.0.1:80", "fe80::1%lo", "unix:/run/x", "10.0.0.0/8, x", "/8", "*"}) {
    CAPTURE(list);
    const auto parsed = trusted_proxies::parse(list);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error() == std::errc::invalid_argument);
  }
}

TEST_CASE("without a trusted peer no field counts") {
  for (proxy_field kind : {proxy_field::x_forwarded_for, proxy_field::forwarded}) {
    for (const trusted_proxies& trusted : {trusted_proxies(), parse("10.0.0.2")}) {
      const auto client = find_client(
          "10.0.0.1:5000", trusted, kind,
          {.list = kind == proxy_field::forwarded ? "for=192.0.2.1;proto=https" : "192.0.2.1", .scheme = "https"});
      CHECK(client.address == socket_address("10.0.0.1:5000"));
      CHECK(client.scheme.empty());
    }
  }
}

TEST_CASE("X-Forwarded-For is read from its end to the first address that is not trusted") {
  struct row {
    std::string_view list, client;
  };
  for (const row& current : {
           row{"", "10.0.0.1:5000"},
           row{"192.0.2.1", "192.0.2.1:0"},
           row{"192.0.2.1:4711", "192.0.2.1:4711"},
           row{"2001:db8::1", "[2001:db8::1]:0"},
           row{"[2001:db8::1]", "[2001:db8::1]:0"},
           row{"[2001:db8::1]:80", "[2001:db8::1]:80"},
           row{"192.0.2.1, 10.0.0.2", "192.0.2.1:0"},
           row{"192.0.2.1,10.0.0.3,10.0.0.2", "192.0.2.1:0"},
           row{"192.0.2.66, 192.0.2.1, 10.0.0.2", "192.0.2.1:0"},  // the client has invented the first entry
           row{"10.0.0.9, 192.0.2.1", "192.0.2.1:0"},
           row{"10.0.0.3, 10.0.0.2", "10.0.0.3:0"},  // all are trusted
           row{"::ffff:10.0.0.2", "[::ffff:10.0.0.2]:0"},
       }) {
    CAPTURE(current.list);
    CHECK(client_behind(current.list, proxy_field::x_forwarded_for).address == socket_address(current.client));
  }
}

TEST_CASE("an entry that is no address ends the reading at the hop behind it") {
  for (std::string_view entry : {"unknown", "_hidden", "localhost", "192.0.2.256", "192.0.2.1:70000", "[2001:db8::1",
                                 "-", "192.0.2.1%eth0", "unix:/run/x", "\"192.0.2.1\"", "192.0.2.1;x", "1"}) {
    CAPTURE(entry);
    const std::string list = "192.0.2.66, " + std::string(entry) + ", 10.0.0.2";
    CHECK(client_behind(list, proxy_field::x_forwarded_for).address == socket_address("10.0.0.2:0"));
    CHECK(client_behind(entry, proxy_field::x_forwarded_for).address == socket_address("10.0.0.1:5000"));
  }
}

TEST_CASE("X-Forwarded-Proto counts if it names http or https") {
  struct row {
    std::string_view field, scheme;
  };
  for (const row& current :
       {row{"https", "https"}, row{"HTTP", "http"}, row{"http, https", "https"}, row{" https ", "https"}, row{"", ""},
        row{"ftp", ""}, row{"https,", ""}, row{"https:", ""}, row{"\"https\"", ""}}) {
    CAPTURE(current.field);
    CHECK(client_behind("192.0.2.1", proxy_field::x_forwarded_for, current.field).scheme == current.scheme);
  }
}

TEST_CASE("Forwarded is read from its end, with quoted texts, scheme and host") {
  struct row {
    std::string_view list, client, scheme, host;
  };
  for (const row& current : {
           row{"for=192.0.2.1", "192.0.2.1:0", "", ""},
           row{"For=192.0.2.1;Proto=HTTPS;Host=example.org", "192.0.2.1:0", "https", "example.org"},
           row{"for=\"[2001:db8::1]:4711\"", "[2001:db8::1]:4711", "", ""},
           row{"for=\"192.0.2.1:80\"; proto=http ; by=_x", "192.0.2.1:80", "http", ""},
           row{"for=192.0.2.1;proto=https, for=10.0.0.2;proto=http", "192.0.2.1:0", "https", ""},
           row{"for=192.0.2.66, for=192.0.2.1;host=\"a,b\", for=10.0.0.2", "192.0.2.1:0", "", "a,b"},
           row{"for=192.0.2.1;host=\"a;b\"", "192.0.2.1:0", "", "a;b"},
           row{"for=192.0.2.1;host=\"[::1]:80\"", "192.0.2.1:0", "", "[::1]:80"},
           row{"for=192.0.2.1;host=\"a b\"", "192.0.2.1:0", "", ""},
           row{"for=192.0.2.1;host=\"evil/../<script>\"", "192.0.2.1:0", "", ""},
           row{"for=192.0.2.1;host=\"a@b\"", "192.0.2.1:0", "", ""},
           row{"for=192.0.2.1;host=\"a:65536\"", "192.0.2.1:0", "", ""},
           row{"for=unknown;proto=https", "10.0.0.1:5000", "https", ""},
           row{"for=\"_hidden\"", "10.0.0.1:5000", "", ""},
           row{"proto=https", "10.0.0.1:5000", "https", ""},
           row{"for=192.0.2.1;;proto=https", "192.0.2.1:0", "https", ""},
           row{"for=192.0.2.1;proto=gopher", "192.0.2.1:0", "", ""},
       }) {
    CAPTURE(current.list);
    const auto client = client_behind(current.list, proxy_field::forwarded);
    CHECK(client.address == socket_address(current.client));
    CHECK(client.scheme == current.scheme);
    CHECK(client.host == current.host);
  }
}

TEST_CASE("a malformed element of Forwarded ends the reading") {
  for (std::string_view element : {"for", "192.0.2.1", "for=\"192.0.2.1", "for=192.0.2.1\"",
                                   "for=192.0.2.1;for=192.0.2.2", "for=\"192.0.2.1\\\"\"", "for=\\192.0.2.1",
                                   "for=192.0.2.1;proto", "for=\"a\"b", "for=192.0.2.1;host=\"x", "for=\"\"\"\""}) {
    CAPTURE(element);
    CHECK(client_behind(element, proxy_field::forwarded).address == socket_address("10.0.0.1:5000"));
  }
}

TEST_CASE("the work for a list is bounded by 32 hops") {
  std::string list = "192.0.2.1";
  for (int i = 0; i < 31; ++i) list += ", 10.0.0.2";
  CHECK(client_behind(list, proxy_field::x_forwarded_for).address == socket_address("192.0.2.1:0"));
  list += ", 10.0.0.2";
  CHECK(client_behind(list, proxy_field::x_forwarded_for).address == socket_address("10.0.0.2:0"));
}
