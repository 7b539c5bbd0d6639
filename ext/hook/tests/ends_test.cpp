// What ends a wait in a hooked call: a cancel, a deadline, a kill, the close of the fd.
#include "blocking.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;
constexpr auto stream_ends = two_ends::kind::stream;

// Calls that wait: `in` has nothing to read, `out` no room to write.
struct waiting_call {
  const char* name;
  int (*call)(int in, int out);
  bool polls;  // it fails with ECANCELED, also at a deadline
};

char some[1 << 20];

const waiting_call calls[] = {
    {"read", [](int in, int) { return int(::read(in, some, 1)); }, false},
    {"recv", [](int in, int) { return int(::recv(in, some, 1, 0)); }, false},
    {"recvfrom", [](int in, int) { return int(::recvfrom(in, some, 1, 0, nullptr, nullptr)); }, false},
    {"write", [](int, int out) { return int(::write(out, some, sizeof some)); }, false},
    {"send", [](int, int out) { return int(::send(out, some, sizeof some, 0)); }, false},
    {"poll",
     [](int in, int) {
       pollfd pfd{in, POLLIN, 0};
       return ::poll(&pfd, 1, -1);
     },
     true},
    {"select",
     [](int in, int) {
       fd_set set;
       FD_ZERO(&set);
       FD_SET(in, &set);
       return ::select(in + 1, &set, nullptr, nullptr, nullptr);
     },
     true},
    {"nanosleep",
     [](int, int) {
       const timespec hour{3600, 0};
       return ::nanosleep(&hour, nullptr);
     },
     false},
};

// A stream that is full in one direction.
struct full_ends : two_ends {
  full_ends() : two_ends(stream_ends) {
    while (::send(out(), some, sizeof some, MSG_DONTWAIT) > 0) {
    }
  }
};

}  // namespace

TEST_CASE("a cancelled call fails with ECANCELED, and so do the waits after it") {
  for (const waiting_call& each : calls) {
    CAPTURE(std::string(each.name));
    full_ends ends;
    loop lp;
    auto waits = spawn(lp, hook::hooked([&] {
                         CHECK(each.call(ends.out(), ends.out()) == -1);
                         CHECK(errno == ECANCELED);
                         CHECK(each.call(ends.out(), ends.out()) == -1);
                         CHECK(errno == ECANCELED);
                         CHECK(::send(ends.in(), "x", 1, 0) == 1);  // this need not wait, so it succeeds
                       }));
    spawn(lp, [&] { waits.cancel(); });
    lp.run();
  }
}

TEST_CASE("a deadline ends a call with ETIMEDOUT, and a poll without a connection with ECANCELED") {
  for (const waiting_call& each : calls) {
    CAPTURE(std::string(each.name));
    full_ends ends;
    in_fiber(
        [&] {
          CHECK(each.call(ends.out(), ends.out()) == -1);
          CHECK(errno == (each.polls ? ECANCELED : ETIMEDOUT));
        },
        {.within = 3ms});
  }
}

TEST_CASE("a kill fails this and each further call, and unwinds where C++ awaits") {
  for (const waiting_call& each : calls) {
    CAPTURE(std::string(each.name));
    full_ends ends;
    bool returned = false, resumed = false, unwound = false;
    loop lp;
    auto waits = spawn(lp, hook::hooked([&] {
                         const struct reporter {
                           bool& unwound;
                           ~reporter() { unwound = true; }
                         } at_end{unwound};
                         CHECK(each.call(ends.out(), ends.out()) == -1);
                         CHECK(errno == ECANCELED);
                         CHECK(::send(ends.in(), "x", 1, 0) == -1);
                         CHECK(errno == ECANCELED);
                         returned = true;
                         await(yield());
                         static_cast<void>(await(sleep_for(1h)));
                         resumed = true;
                       }));
    spawn(lp, [&] { waits.kill(); });
    lp.run();
    CHECK(returned);
    CHECK_FALSE(resumed);
    CHECK(unwound);
  }
}

TEST_CASE("a call that the unwinding of a kill makes is tried, and does not wait") {
  two_ends ends(stream_ends);
  ssize_t received = 0;
  int error = 0;
  {
    loop lp;
    auto waits = spawn(lp, hook::hooked([&] {
                         const struct receiver {
                           int fd;
                           ssize_t& received;
                           int& error;
                           ~receiver() {
                             char byte = 0;
                             received = ::recv(fd, &byte, 1, 0);
                             error = errno;
                           }
                         } at_end{ends.in(), received, error};
                         static_cast<void>(await(sleep_for(1h)));
                       }));
    spawn(lp, [&] { waits.kill(); });
    lp.run();
  }
  CHECK(received == -1);
  CHECK(error == ECANCELED);
}

TEST_CASE("a cancelled write returns the number of bytes that it wrote") {
  two_ends ends(stream_ends);
  loop lp;
  auto writes = spawn(lp, hook::hooked([&] {
                        std::vector<char> much(10'000'000);
                        const ssize_t sent = ::write(ends.out(), much.data(), much.size());
                        CHECK(sent > 0);
                        CHECK(sent < ssize_t(much.size()));
                      }));
  spawn(lp, [&] { writes.cancel(); });
  lp.run();
}

TEST_CASE("a loop over calls that need not wait is ended by a cancel") {
  two_ends ends(pipe_ends);
  loop lp;
  auto goes_on = spawn(lp, hook::hooked([&] {
                         for (;;) {
                           if (::write(ends.out(), "x", 1) != 1) break;
                           char byte = 0;
                           if (::read(ends.in(), &byte, 1) != 1) break;
                         }
                         CHECK(errno == ECANCELED);
                       }));
  spawn(lp, [&] { goes_on.cancel(); });
  lp.run();
}

TEST_CASE("close ends the waits for the number with EBADF") {
  for (const waiting_call& each : calls) {
    if (std::string_view(each.name) == "nanosleep") continue;
    CAPTURE(std::string(each.name));
    full_ends ends;
    const int own = ::dup(ends.out());
    meet(
        [&] {
          CHECK(each.call(own, own) == -1);
          CHECK(errno == EBADF);
        },
        [&] { ::close(own); });
  }
}

TEST_CASE("dup2, dup3 and close_range close, too") {
  two_ends ends(pipe_ends), other(pipe_ends);
  char byte = 0;
  const auto expect_end = [&](auto ends_it) {
    const int own = ::fcntl(ends.in(), F_DUPFD, 100);
    meet(
        [&] {
          CHECK(::read(own, &byte, 1) == -1);
          CHECK(errno == EBADF);
        },
        [&] { ends_it(own); });
    ::close(own);
  };
  expect_end([&](int fd) { ::dup2(other.in(), fd); });
  expect_end([&](int fd) { ::dup3(other.in(), fd, O_CLOEXEC); });
  expect_end([&](int fd) { ::close_range(unsigned(fd), unsigned(fd), 0); });
}

TEST_CASE("a number that is used again is another one: the wait for it ends by its own file") {
  two_ends first(pipe_ends), second(pipe_ends);
  const int fd = ::fcntl(first.in(), F_DUPFD, 200);
  std::string text;
  meet([&] { text = read_text(fd); }, [&] { write_text(first.out(), "first"); });
  CHECK(text == "first");
  REQUIRE(::dup2(second.in(), fd) == fd);
  meet([&] { text = read_text(fd); },
       [&] {
         write_text(first.out(), "wrong");             // the first file is still open, under another number
         for (int i = 0; i < 20; ++i) await(yield());  // the loop polls
         write_text(second.out(), "second");
       });
  CHECK(text == "second");
  ::close(fd);
}
