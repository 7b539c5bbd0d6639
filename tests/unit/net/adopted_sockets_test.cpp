// Listeners and datagram sockets of descriptors that others have opened: accepted and refused ones, and servers.
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/loopback.hpp"

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// As a program without hocket makes them: they block, and are inherited.
int make_socket(const socket_address& at, int type) {
  const auto family = *static_cast<const sa_family_t*>(at.data());
  const int fd = ::socket(family, type, 0);
  REQUIRE(fd >= 0);
  REQUIRE(::bind(fd, static_cast<const sockaddr*>(at.data()), static_cast<socklen_t>(at.size())) == 0);
  return fd;
}
int make_listener(const socket_address& at, int type = SOCK_STREAM) {
  const int fd = make_socket(at, type);
  REQUIRE(::listen(fd, 16) == 0);
  return fd;
}

std::vector<std::string> addresses() {
  std::vector<std::string> all{"127.0.0.1:0", "unix:@hocket-adopted-" + std::to_string(::getpid())};
  if (has_v6()) all.push_back("[::1]:0");
  return all;
}

void check_is_own(int fd) {
  CHECK(::fcntl(fd, F_GETFD) == FD_CLOEXEC);
  CHECK((::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
}

task<result<void>> echo(tcp::stream peer) {
  std::array<char, 16> buffer{};
  for (;;) {
    auto returned = co_await peer.read_some(buffer);
    if (!returned) co_return failure(returned.error());
    if (*returned == 0) co_return {};
    auto sent = co_await peer.write_all(std::span(buffer.data(), *returned));
    if (!sent) co_return failure(sent.error());
  }
}

void check_echoes(const socket_address& at) {
  auto peer = sync_wait(tcp::connect(at)).value();
  std::array<char, 4> buffer{};
  CHECK(sync_wait(peer.write_all("ping")) == std::size_t{4});
  CHECK(sync_wait(peer.read_exactly(buffer)) == std::size_t{4});
  CHECK(std::string_view(buffer.data(), 4) == "ping");
}

}  // namespace

TEST_CASE("a listener is made of a socket that listens, whoever has opened it") {
  for (const std::string& text : addresses()) {
    CAPTURE(text);
    const int fd = make_listener(socket_address(text));
    auto adopted = tcp::listener::adopt(fd);
    REQUIRE(adopted.has_value());
    CHECK(adopted->native_handle() == fd);
    check_is_own(fd);
    CHECK(adopted->try_accept().error() == std::errc::resource_unavailable_try_again);
    auto near = sync_wait(tcp::connect(adopted->local_address())).value();
    auto far = sync_wait(adopted->accept()).value();
    check_is_own(far.native_handle());
    CHECK(far.peer_address() == near.local_address());
    adopted->close();
    CHECK(::fcntl(fd, F_GETFD) == -1);
  }
}

TEST_CASE("a server serves listeners that others have opened, on one loop and on workers") {
  runtime rt({.workers = 3});
  std::vector<tcp::listener> all;
  std::vector<socket_address> at;
  for (const std::string& text : addresses()) {
    all.push_back(tcp::listener::adopt(make_listener(socket_address(text))).value());
    at.push_back(all.back().local_address());
  }
  auto server = tcp::serve(rt, std::move(all), &echo).value();
  for (const socket_address& current : at) check_echoes(current);
  CHECK(server.counts().accepted == at.size());
}

TEST_CASE("a socket for datagrams is made of one that others have opened") {
  for (const std::string& text : addresses()) {
    CAPTURE(text);
    const int fd = make_socket(socket_address(text), SOCK_DGRAM);
    auto adopted = udp::socket::adopt(fd);
    REQUIRE(adopted.has_value());
    CHECK(adopted->native_handle() == fd);
    check_is_own(fd);
    auto client = udp::socket::connect(adopted->local_address()).value();
    CHECK(sync_wait(client.send("word")) == std::size_t{4});
    std::array<char, 8> buffer{};
    CHECK(sync_wait(adopted->receive(buffer)).value().size == 4);
  }
}

TEST_CASE("what is no socket of the kind that is asked for is refused, and stays its owner's") {
  auto pipe = make_pipe().value();
  const int closed = ::dup(0);
  ::close(closed);
  for (const int none : {-1, closed, 1'000'000}) {
    CHECK(tcp::listener::adopt(none).error() == std::errc::bad_file_descriptor);
    CHECK(udp::socket::adopt(none).error() == std::errc::bad_file_descriptor);
  }
  const int file = ::open("/dev/null", O_RDWR), folder = ::open("/", O_RDONLY | O_DIRECTORY);
  for (const int other : {pipe.reader.native_handle(), file, folder}) {
    CHECK(tcp::listener::adopt(other).error() == std::errc::not_a_socket);
    CHECK(udp::socket::adopt(other).error() == std::errc::not_a_socket);
    CHECK(::fcntl(other, F_GETFD) >= 0);
  }
  const int listens = make_listener("127.0.0.1:0"), bound = make_socket("127.0.0.1:0", SOCK_STREAM),
            datagrams = make_socket("127.0.0.1:0", SOCK_DGRAM),
            packets = make_listener(own_unix_address("packets"), SOCK_SEQPACKET);
  for (const int wrong : {bound, datagrams, packets})
    CHECK(tcp::listener::adopt(wrong).error() == std::errc::invalid_argument);
  for (const int wrong : {bound, listens, packets})
    CHECK(udp::socket::adopt(wrong).error() == std::errc::invalid_argument);
  for (const int current : {file, folder, listens, bound, datagrams, packets}) {
    CHECK(::fcntl(current, F_GETFD) >= 0);
    ::close(current);
  }
}
