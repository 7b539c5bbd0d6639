// How long a mark lasts, and which number has it: closed numbers, numbers that are used again, copies.
#include "connection_calls.hpp"

#include <marked_sockets.hpp>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;

}  // namespace

TEST_CASE("a number that was closed by a system call and is used again is another socket") {
  constexpr int number = 200;
  connection_ends first, second;
  const int fd = moved_to(first, number);
  run_and_end(ending::cancel, [&] { CHECK(::recv(fd, buffer.data(), 1, 0) == -1); });
  CHECK(hook::is_marked(fd));
  ::syscall(SYS_close, fd);
  CHECK(moved_to(second, number) == fd);
  in_fiber([&] {
    write_text(fd, "x");
    CHECK(read_text(second.server(), 1) == "x");
    pollfd item{fd, POLLIN, 0};
    CHECK(::poll(&item, 1, 0) == 0);
  });
  CHECK_FALSE(hook::has_marks());
  ::close(fd);
}

TEST_CASE("close, close_range, closefrom, dup2 and dup3 over a number end its mark") {
  constexpr int number = 300;
  two_ends pipe(pipe_ends);
  const auto expect = [&](auto close_it) {
    connection_ends ends;
    const int fd = moved_to(ends, number);
    run_and_end(ending::cancel, [&] { CHECK(::recv(fd, buffer.data(), 1, 0) == -1); });
    CHECK(hook::is_marked(fd));
    close_it(fd);
    CHECK_FALSE(hook::has_marks());
    ::syscall(SYS_close, fd);
  };
  expect([](int fd) { ::close(fd); });
  expect([](int fd) { ::close_range(unsigned(fd), unsigned(fd), 0); });
  expect([](int fd) { ::closefrom(fd); });
  expect([&](int fd) { CHECK(::dup2(pipe.in(), fd) == fd); });
  expect([&](int fd) { CHECK(::dup3(pipe.in(), fd, O_CLOEXEC) == fd); });
}

TEST_CASE("a copy of a marked number is marked; a dup2 that fails or does nothing leaves the mark") {
  constexpr int number = 400;
  const others beside;
  connection_ends ends;
  mark(ends);
  const int fd = ends.client();
  const std::array copies{::dup(fd), ::dup2(fd, number), ::dup3(fd, number + 1, O_CLOEXEC), ::fcntl(fd, F_DUPFD, 401),
                          ::fcntl(fd, F_DUPFD_CLOEXEC, 401)};
  for (const int copy : copies) {
    REQUIRE(copy >= 0);
    expect_refused_everywhere(copy, beside);
  }
  CHECK(::dup2(fd, fd) == fd);
  CHECK(::dup2(-1, fd) == -1);
  CHECK(::dup3(fd, fd, 0) == -1);
  expect_refused_everywhere(fd, beside);
  for (const int copy : copies) ::close(copy);
  expect_refused_everywhere(fd, beside);
}

TEST_CASE("marks of many numbers, by fibers of several workers, that others close") {
  runtime rt({.workers = 2});
  std::vector<join_handle<>> fibers;
  for (int i = 0; i < 200; ++i)
    fibers.push_back(spawn(rt, hook::hooked([] {
                             connection_ends ends;
                             CHECK(hook::within(0ms, [&] {
                                     return ::recv(ends.client(), buffer.data(), 1, 0);
                                   }).error() == std::errc::timed_out);
                             CHECK(hook::is_marked(ends.client()));
                             CHECK_FALSE(hook::is_marked(ends.server()));
                           })));
  for (auto& fiber : fibers) sync_wait(fiber);
  CHECK_FALSE(hook::has_marks());
}
