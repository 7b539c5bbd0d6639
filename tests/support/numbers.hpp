// Numbers of the system that nothing has adopted, for tests of io.
#pragma once
#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace hocket_test {

// A pipe, of blocking numbers. Each put() is taken by one take().
struct number_pipe {
  number_pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    in = ends[0];
    out = ends[1];
  }
  number_pipe(const number_pipe&) = delete;
  number_pipe& operator=(const number_pipe&) = delete;
  number_pipe(number_pipe&& other) noexcept : in(std::exchange(other.in, -1)), out(std::exchange(other.out, -1)) {}
  ~number_pipe() {
    if (in >= 0) ::close(in);
    if (out >= 0) ::close(out);
  }
  void put() const { REQUIRE(::write(out, "p", 1) == 1); }
  void take() const {
    char taken = 0;
    REQUIRE(::read(in, &taken, 1) == 1);
  }

  int in = -1, out = -1;
};

// Connected sockets.
struct number_pair {
  number_pair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    near = ends[0];
    far = ends[1];
  }
  number_pair(const number_pair&) = delete;
  number_pair& operator=(const number_pair&) = delete;
  ~number_pair() {
    ::close(near);
    ::close(far);
  }
  static void put(int number) { REQUIRE(::send(number, "p", 1, 0) == 1); }
  // Until there is no more room.
  static void fill(int number) {
    std::array<char, 4096> bytes{};
    while (::send(number, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }
  static void drain(int number) {
    std::array<char, 4096> bytes{};
    while (::recv(number, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }

  int near = -1, far = -1;
};

}  // namespace hocket_test
