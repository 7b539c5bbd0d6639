// How long a mark lasts, and which number has it: closed numbers, numbers that are used again, copies.
#include "connection_calls.hpp"

#include <marked_sockets.hpp>
#include <sys/resource.h>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;

// Ways to close a number. `other` is an open number.
struct closing {
  const char* name;
  void (*call)(int fd, int other);
};
constexpr closing closings[] = {
    {"close", [](int fd, int) { ::close(fd); }},
    {"close_range", [](int fd, int) { ::close_range(unsigned(fd), unsigned(fd), 0); }},
    {"dup2", [](int fd, int other) { ::dup2(other, fd); }},
    {"dup3", [](int fd, int other) { ::dup3(other, fd, O_CLOEXEC); }},
};

// call(fd) waits in a hooked fiber at a number. The fiber is cancelled or killed. Before it runs, the number is closed,
// and a new connection has it.
template <class Wait, class Call>
void expect_reuse_is_unmarked(Wait make_wait, Call call) {
  constexpr int number = 500;
  for (const ending end : {ending::cancel, ending::kill})
    for (const closing& each : closings) {
      CAPTURE(std::string(name_of(end)));
      CAPTURE(std::string(each.name));
      connection_ends second;
      two_ends pipe(pipe_ends);
      const int fd = make_wait(number);
      loop lp;
      auto ended = spawn(lp, hook::hooked([&] { call(fd); }));
      spawn(lp, [&] {
        if (end == ending::kill) ended.kill();
        else ended.cancel();
        each.call(fd, pipe.in());
        moved_to(second, fd);
      });
      lp.run();
      CHECK_FALSE(hook::has_marks());
      in_fiber([&] {
        write_text(fd, "x");
        CHECK(read_text(second.server(), 1) == "x");
        write_text(second.server(), "y");
        CHECK(read_text(fd, 1) == "y");
      });
      ::close(fd);
    }
}

// While it lives, the process gets no memory from the system.
class without_memory {
 public:
  without_memory() {
    REQUIRE(::getrlimit(RLIMIT_AS, &before_) == 0);
    const rlimit none{0, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_AS, &none) == 0);
  }
  without_memory(const without_memory&) = delete;
  without_memory& operator=(const without_memory&) = delete;
  ~without_memory() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

// A number for whose page of marks there was no need yet. Sanitizers need memory in each call.
constexpr int distant_number = 3 * 4096;
bool may_use_distant_numbers() {
  rlimit numbers{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &numbers) == 0);
  numbers.rlim_cur = numbers.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &numbers));
  return numbers.rlim_max > distant_number + 4 && hocket::detail::sanitizer == hocket::detail::sanitizer_kind::plain;
}

void expect_shut_down(int fd) {
  errno = 0;
  CHECK(::send(fd, "x", 1, MSG_NOSIGNAL) == -1);
  CHECK(errno == EPIPE);
  CHECK(::recv(fd, buffer.data(), 1, 0) == 0);
}

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
    pollfd pfd{fd, POLLIN, 0};
    CHECK(::poll(&pfd, 1, 0) == 0);
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

TEST_CASE("a number that was closed and used again before an ended transfer runs belongs to another connection") {
  for (const transfer& each : transfers) {
    CAPTURE(std::string(each.name));
    const others beside;
    write_text(beside.filled.out(), "some");
    connection_ends first;
    if (!each.is_of_input) first.fill();
    expect_reuse_is_unmarked(
        [&](int number) {
          const int fd = static_cast<int>(::syscall(SYS_dup3, first.client(), number, O_CLOEXEC));
          REQUIRE(fd == number);
          return fd;
        },
        [&](int fd) {
          errno = 0;
          const ssize_t moved = each.call(fd, beside);
          CHECK(moved < static_cast<ssize_t>(buffer.size()));
          if (moved < 0) CHECK(errno == EBADF);
        });
  }
}

TEST_CASE("a number that was closed and used again before an ended poll runs is not reported nor marked") {
  for (const polling& each : polls) {
    CAPTURE(std::string(each.name));
    connection_ends first;
    expect_reuse_is_unmarked(
        [&](int number) { return static_cast<int>(::syscall(SYS_dup3, first.client(), number, O_CLOEXEC)); },
        [&](int fd) { CHECK(each.call(fd, -1) == -1); });
  }
}

TEST_CASE("a number that was closed and used again before an ended connect runs belongs to another connection") {
  const full_listener full;
  expect_reuse_is_unmarked(
      [](int number) {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(::syscall(SYS_dup3, fd, number, O_CLOEXEC) == number);
        ::syscall(SYS_close, fd);
        return number;
      },
      [&](int fd) {
        CHECK(::connect(fd, full.address(), local_listener::size) == -1);
        CHECK(errno == EBADF);
      });
}

TEST_CASE("an ended poll marks the other connections of its set if one number was closed and used again") {
  constexpr int number = 501;
  connection_ends first, second, other;
  const others beside;
  const int fd = moved_to(first, number);
  loop lp;
  auto ended = spawn(lp, hook::hooked([&] {
                       std::array set{pollfd{fd, POLLIN, 0}, pollfd{other.client(), POLLIN, 0}};
                       CHECK(::poll(set.data(), set.size(), -1) == 1);
                       CHECK(set[0].revents == 0);
                       CHECK(set[1].revents == (POLLIN | POLLERR));
                     }));
  spawn(lp, [&] {
    ended.cancel();
    ::close(fd);
    moved_to(second, number);
  });
  lp.run();
  CHECK_FALSE(hook::is_marked(number));
  other.answer();
  expect_refused_everywhere(other.client(), beside);
  ::close(number);
}

TEST_CASE("a close of another number with the same low bits leaves a connection to be marked") {
  constexpr int number = 502, distant = number + 4096;
  rlimit numbers{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &numbers) == 0);
  numbers.rlim_cur = numbers.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &numbers) == 0);
  if (numbers.rlim_max <= distant) return;
  connection_ends ends;
  two_ends pipe(pipe_ends);
  const others beside;
  const int fd = moved_to(ends, number);
  REQUIRE(::dup2(pipe.in(), distant) == distant);
  loop lp;
  auto ended = spawn(lp, hook::hooked([&] {
                       CHECK(::recv(fd, buffer.data(), 1, 0) == -1);
                       CHECK(errno == ECONNABORTED);
                     }));
  spawn(lp, [&] {
    ended.cancel();
    ::close(distant);
  });
  lp.run();
  expect_refused_everywhere(fd, beside);
  ::close(fd);
}

TEST_CASE("without memory for its mark a connection is shut down, and so is a copy of a marked number") {
  if (!may_use_distant_numbers()) return;
  connection_ends ends, distant;
  run_and_end(ending::cancel, [&] { CHECK(::recv(ends.client(), buffer.data(), 1, 0) == -1); });
  const int fd = ends.client();
  constexpr int (*copies[])(int) = {
      [](int from) { return ::dup2(from, distant_number); },
      [](int from) { return ::dup3(from, distant_number, O_CLOEXEC); },
      [](int from) { return ::fcntl(from, F_DUPFD, distant_number); },
      [](int from) { return ::fcntl(from, F_DUPFD_CLOEXEC, distant_number); },
  };
  for (const auto copies_it : copies) {
    int copy = -1;
    {
      const without_memory guard;
      copy = copies_it(fd);
    }
    REQUIRE(copy == distant_number);
    expect_shut_down(copy);
    ::close(copy);
  }
  CHECK(hook::is_marked(fd));
  moved_to(distant, distant_number);
  bool is_marked = false;
  {
    const without_memory guard;
    is_marked = hook::mark_if_connected(distant_number, hook::last_close());
  }
  CHECK(is_marked);
  expect_shut_down(distant_number);
  ::close(distant_number);
}

TEST_CASE("without memory a copy of a number leaves its socket alone if the mark is that of an earlier socket") {
  if (!may_use_distant_numbers()) return;
  constexpr int number = 503;
  connection_ends first, second;
  const int fd = moved_to(first, number);
  run_and_end(ending::cancel, [&] { CHECK(::recv(fd, buffer.data(), 1, 0) == -1); });
  ::syscall(SYS_close, fd);
  moved_to(second, number);
  int copy = -1;
  {
    const without_memory guard;
    copy = ::dup2(fd, distant_number);
  }
  REQUIRE(copy == distant_number);
  REQUIRE(::send(copy, "x", 1, MSG_NOSIGNAL) == 1);
  CHECK(read_text(second.server(), 1) == "x");
  ::close(copy);
  ::close(fd);
}
