// Sockets and the addresses that they are given: of others, in use, of both families, without a name; and datagrams
// that have no place to go.
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/time/within.hpp>

#include "support/loopback.hpp"
#include "support/tcp_pair.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <doctest/doctest.h>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

int no_delay_of(const descriptor& one) {
  int on = -1;
  socklen_t size = sizeof on;
  ::getsockopt(one.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, &size);
  return on != 0 ? 1 : 0;
}

}  // namespace

TEST_CASE("an address of another machine is not to be had") {
  CHECK(tcp::listener::bind("192.0.2.1:0").error() == std::errc::address_not_available);
  CHECK(udp::socket::bind("192.0.2.1:0").error() == std::errc::address_not_available);
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  const tcp::connect_options from_elsewhere{.local_address = "192.0.2.1:0"};
  CHECK(sync_wait(tcp::connect(door.local_address(), from_elsewhere)).error() == std::errc::address_not_available);
  const tcp::connect_options from_here{.local_address = "127.0.0.2:0"};
  auto near = sync_wait(tcp::connect(door.local_address(), from_here)).value();
  auto far = sync_wait(door.accept()).value();
  CHECK(far.peer_address() == near.local_address());
  CHECK(near.local_address().with_port(0) == socket_address("127.0.0.2:0"));
}

TEST_CASE("a port can be listened at again at once, though connections of it have ended") {
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  const socket_address at = door.local_address();
  for (int i = 0; i < 3; ++i) {
    auto near = sync_wait(tcp::connect(at)).value();
    auto far = sync_wait(door.accept()).value();
    far.close();  // first: this side keeps the pair of addresses for a minute
    char byte = 0;
    CHECK(sync_wait(near.read_some(std::span(&byte, 1))) == std::size_t{0});
    near.close();
    door.close();
    auto again = tcp::listener::bind(at);
    REQUIRE(again.has_value());
    door = std::move(*again);
  }
}

TEST_CASE("a listener of IPv6 takes IPv4, too, unless its options say otherwise" * doctest::skip(!has_v6())) {
  auto both = tcp::listener::bind("[::]:0").value();
  const std::uint16_t port = both.local_address().port();
  auto v4 = sync_wait(tcp::connect(socket_address::loopback_v4(port))).value();
  auto v6 = sync_wait(tcp::connect(socket_address::loopback_v6(port))).value();
  CHECK(sync_wait(both.accept()).has_value());
  CHECK(sync_wait(both.accept()).has_value());
  auto only = tcp::listener::bind("[::]:0", {.v6_only = true}).value();
  // An address that other tests do not use: a connection of them in TIME_WAIT would have the port.
  const socket_address other("127.77.77.77:" + std::to_string(only.local_address().port()));
  CHECK(sync_wait(tcp::connect(other)).error() == std::errc::connection_refused);
  CHECK(tcp::listener::bind(other).has_value());
}

TEST_CASE("small writes are sent at once on both sides, unless the options say otherwise") {
  for (const bool on : {true, false}) {
    auto door = tcp::listener::bind("127.0.0.1:0", {.no_delay = on}).value();
    const tcp::connect_options options{.no_delay = on};
    auto near = sync_wait(tcp::connect(door.local_address(), options)).value();
    auto far = sync_wait(door.accept()).value();
    CHECK(no_delay_of(near) == (on ? 1 : 0));
    CHECK(no_delay_of(far) == (on ? 1 : 0));
  }
}

TEST_CASE("the path of a unix socket outlives its listener, and a plain file is no socket") {
  temporary_folder folder;
  const std::string path = folder / "socket", plain = folder / "plain";
  std::ofstream(plain) << "a file";
  CHECK(sync_wait(tcp::connect("unix:" + plain)).error() == std::errc::connection_refused);
  CHECK(tcp::listener::bind("unix:" + plain).error() == std::errc::address_in_use);
  CHECK(tcp::listener::bind("unix:" + (folder / "none/socket")).error() == std::errc::no_such_file_or_directory);
  {
    auto door = tcp::listener::bind("unix:" + path).value();
  }
  CHECK(std::filesystem::exists(path));
  CHECK(tcp::listener::bind("unix:" + path).error() == std::errc::address_in_use);
  std::filesystem::remove(path);
  auto door = tcp::listener::bind("unix:" + path).value();
  CHECK(door.local_address() == socket_address("unix:" + path));
  auto near = sync_wait(tcp::connect("unix:" + path)).value();
  auto far = sync_wait(door.accept()).value();
  CHECK(far.peer_address().to_string() == "unix:");
}

TEST_CASE("a unix address without a name is refused by every call that binds or connects") {
  const socket_address none("unix:");
  REQUIRE(none.is_unnamed());
  CHECK(tcp::listener::bind(none).error() == std::errc::invalid_argument);
  CHECK(udp::socket::bind(none).error() == std::errc::invalid_argument);
  CHECK(udp::socket::connect(none).error() == std::errc::invalid_argument);
  CHECK(sync_wait(tcp::connect(none)).error() == std::errc::invalid_argument);
  const tcp::connect_options from_none{.local_address = none};
  CHECK(sync_wait(tcp::connect("unix:@hocket-no-such-name", from_none)).error() == std::errc::invalid_argument);
}

TEST_CASE("a client of this machine is a loopback at a listener of both families" * doctest::skip(!has_v6())) {
  auto both = tcp::listener::bind("[::]:0").value();
  const std::uint16_t port = both.local_address().port();
  for (const socket_address& at : {socket_address::loopback_v4(port), socket_address("127.5.6.7:0").with_port(port),
                                   socket_address::loopback_v6(port)}) {
    auto near = sync_wait(tcp::connect(at)).value();
    auto far = sync_wait(both.accept()).value();
    CHECK(far.peer_address().is_loopback());
    CHECK(far.local_address().is_loopback());
  }
}

TEST_CASE("datagrams without a receiver, to a broadcast, and to a socket of another peer") {
  auto one = udp::socket::bind("127.0.0.1:0").value();
  auto two = udp::socket::bind("127.0.0.1:0").value();
  std::array<char, 8> room{};
  CHECK(sync_wait(one.send("x")).error() == std::errc::destination_address_required);
  CHECK(sync_wait(one.send("x", "127.255.255.255:9")).error() == std::errc::permission_denied);
  auto hears_one = udp::socket::connect(one.local_address()).value();
  CHECK(hears_one.peer_address() == one.local_address());
  sync_wait(two.send("two", hears_one.local_address())).value();
  sync_wait(one.send("one", hears_one.local_address())).value();
  const udp::received_datagram got = sync_wait(hears_one.receive(room)).value();
  CHECK(got.sender == one.local_address());
  CHECK(sync_wait(within(0ms, hears_one.receive(room))).error() == std::errc::timed_out);
}

TEST_CASE("a datagram for an empty buffer is taken and cut, and an empty batch takes nothing") {
  auto near = udp::socket::bind("127.0.0.1:0").value();
  auto far = udp::socket::connect(near.local_address()).value();
  sync_wait(far.send("long")).value();
  const udp::received_datagram got = sync_wait(near.receive({})).value();
  CHECK(got.size == 0);
  CHECK(got.truncated);
  CHECK(got.sender == far.local_address());
  CHECK(sync_wait(near.receive_batch({})) == std::size_t{0});
  CHECK(sync_wait(far.send_batch({})) == std::size_t{0});
}

TEST_CASE("datagrams that came in one event are received one by one") {
  auto near = udp::socket::bind("127.0.0.1:0").value();
  auto far = udp::socket::connect(near.local_address()).value();
  std::array<char, 8> room{};
  CHECK(sync_wait(within(0ms, near.receive(room))).error() == std::errc::timed_out);
  for (char letter = 'a'; letter != 'k'; ++letter) sync_wait(far.send(std::string_view(&letter, 1))).value();
  for (char letter = 'a'; letter != 'k'; ++letter) {
    CHECK(sync_wait(near.receive(room)).value().size == 1);
    CHECK(room[0] == letter);
  }
}
