// Passed descriptors that nobody has room for, bad input, and who is at the other end.
#include <hocket/core/sync_wait.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "support/loopback.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

std::ptrdiff_t open_numbers() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// Sends so many copies of number 0 with one byte.
void pass(unix_stream& by, std::size_t count) {
  const std::vector<int> numbers(count, 0);
  CHECK(sync_wait(by.send_with_fds("x", numbers)) == 1);
}

}  // namespace

TEST_CASE("descriptors for which there is no room are closed, and that is told") {
  auto [near, far] = make_unix_pair().value();
  std::array<char, 8> buffer;
  for (std::size_t sent = 1; sent != 6; ++sent) {
    for (std::size_t most = 0; most != 6; ++most) {
      const std::ptrdiff_t before = open_numbers();
      std::vector<unique_fd> room(most);
      pass(near, sent);
      const auto got = sync_wait(far.receive_with_fds(buffer, room)).value();
      CHECK(got.size == 1);
      CHECK(got.fds == std::min(sent, most));
      CHECK(got.truncated == (sent > most));
      CHECK(open_numbers() == before + static_cast<std::ptrdiff_t>(got.fds));
    }
  }
}

TEST_CASE("numbers in the room are closed when others take their places") {
  auto [near, far] = make_unix_pair().value();
  std::array<char, 8> buffer;
  std::array<unique_fd, 1> room;
  const std::ptrdiff_t before = open_numbers();
  for (int i = 0; i < 3; ++i) {
    pass(near, 1);
    sync_wait(far.receive_with_fds(buffer, room)).value();
    CHECK(open_numbers() == before + 1);
  }
}

TEST_CASE("a read that knows of no descriptors drops them") {
  auto [near, far] = make_unix_pair().value();
  const std::ptrdiff_t before = open_numbers();
  pass(near, 3);
  std::array<char, 8> buffer;
  CHECK(sync_wait(far.read_some(buffer)) == 1);
  CHECK(open_numbers() == before);
}

TEST_CASE("a message with descriptors that is ended in the middle tells how much of it was sent") {
  auto [near, far] = make_unix_pair().value();
  const std::array numbers{0};
  const std::vector<char> much(10'000'000);
  CHECK(sync_wait(within(1ms, near.send_with_fds(much, numbers))).error_or({}) == std::errc::timed_out);
  CHECK(near.partial_write_size() > 0);
  CHECK(near.partial_write_size() < much.size());
}

TEST_CASE("most descriptors at a time are passed, and more are refused") {
  auto [near, far] = make_unix_pair().value();
  std::array<char, 8> buffer;
  std::vector<unique_fd> room(300);
  pass(near, unix_stream::max_fds);
  const auto got = sync_wait(far.receive_with_fds(buffer, room)).value();
  CHECK(got.fds == unix_stream::max_fds);
  const std::vector<int> many(unix_stream::max_fds + 1, 0);
  CHECK(sync_wait(near.send_with_fds("x", many)).error_or({}) == std::errc::invalid_argument);
}

TEST_CASE("no bytes, closed numbers and a peer that is gone are errors") {
  ::signal(SIGPIPE, SIG_DFL);
  auto [near, far] = make_unix_pair().value();
  std::array<unique_fd, 1> room;
  const std::array wrong{-1}, right{0};
  CHECK(sync_wait(near.send_with_fds("", right)).error_or({}) == std::errc::invalid_argument);
  CHECK(sync_wait(near.send_with_fds("x", wrong)).error_or({}) == std::errc::bad_file_descriptor);
  CHECK(sync_wait(far.receive_with_fds({}, room)).error_or({}) == std::errc::invalid_argument);
  CHECK(sync_wait(near.send_with_fds("x", {})) == 1);
  far.close();
  CHECK(sync_wait(near.send_with_fds("x", right)).error_or({}) == std::errc::broken_pipe);
  near.close();
  CHECK(sync_wait(near.send_with_fds("x", right)).error_or({}) == std::errc::bad_file_descriptor);
  CHECK(near.credentials().error_or({}) == std::errc::bad_file_descriptor);
}

TEST_CASE("a receiver that may have no more numbers gets the bytes, and is told") {
  const child_end end = end_of_child([] {
    auto [near, far] = make_unix_pair().value();
    pass(near, 3);
    const std::ptrdiff_t before = open_numbers();
    rlimit none{};
    ::getrlimit(RLIMIT_NOFILE, &none);
    none.rlim_cur = 3;
    ::setrlimit(RLIMIT_NOFILE, &none);
    std::array<char, 8> buffer;
    std::array<unique_fd, 3> room;
    const auto got = sync_wait(far.receive_with_fds(buffer, room)).value();
    CHECK(got.size == 1);
    CHECK(got.fds == 0);
    CHECK(got.truncated);
    none.rlim_cur = 100;
    ::setrlimit(RLIMIT_NOFILE, &none);
    CHECK(open_numbers() == before);
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

TEST_CASE("a connection to a path passes descriptors, too, and knows its peer") {
  auto door = tcp::listener::bind(own_unix_address("unix-stream-test")).value();
  unix_stream near(sync_wait(tcp::connect(door.local_address())).value());
  unix_stream far(sync_wait(door.accept()).value());
  pass(near, 1);
  std::array<char, 8> buffer;
  std::array<unique_fd, 1> room;
  CHECK(sync_wait(far.receive_with_fds(buffer, room)).value().fds == 1);
  for (const unix_stream* one : {&near, &far}) {
    const peer_credentials peer = one->credentials().value();
    CHECK(peer.process == ::getpid());
    CHECK(peer.user == ::getuid());
    CHECK(peer.group == ::getgid());
  }
}

TEST_CASE("a number ends with its owner, unless that gives it up") {
  const int number = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  {
    unique_fd one(number), other(std::move(one));
    CHECK_FALSE(static_cast<bool>(one));
    one = std::move(other);
    CHECK(one.release() == number);
  }
  CHECK(::fcntl(number, F_GETFD) != -1);
  {
    const unique_fd again(number);
  }
  CHECK(::fcntl(number, F_GETFD) == -1);
}
