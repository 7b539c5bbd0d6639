#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/numbers.hpp"

#include <array>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<result<std::size_t>> wait_for_input(int number) {
  pollfd expected{number, POLLIN, 0};
  auto located = co_await poll_fds({&expected, 1});
  co_return located;
}

}  // namespace

TEST_CASE("a plain thread waits for numbers") {
  number_pipe pipe;
  pollfd expected{pipe.in, POLLIN, 0};
  CHECK(sync_wait(within(1ms, poll_fds({&expected, 1}))).error_or({}) == std::errc::timed_out);
  std::thread other([&] { pipe.put(); });
  CHECK(sync_wait(poll_fds({&expected, 1})) == std::size_t{1});
  CHECK(expected.revents == POLLIN);
  other.join();
  const pollfd before = expected;
  number_pipe().put();
  CHECK(sync_wait(poll_fds({&expected, 1})) == std::size_t{1});
  CHECK(expected.revents == before.revents);
}

TEST_CASE("a regular file is ready, and so is a number of nothing") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  REQUIRE(file != nullptr);
  std::array<pollfd, 2> expected{pollfd{::fileno(file.get()), POLLIN | POLLOUT, 0}, pollfd{99'999, POLLIN, 0}};
  CHECK(sync_wait(poll_fds(expected)) == std::size_t{2});
  CHECK(expected[0].revents == (POLLIN | POLLOUT));
  CHECK(expected[1].revents == POLLNVAL);
}

// The system reports an error or a hang-up without being asked, and perhaps alone.
TEST_CASE("an end that nobody asked for is told to every wait for a number") {
  struct ended {
    number_pipe pipe;
    bool reads;             // the side that waits
    short asked, reported;  // reported: one of them at least
  };
  const auto make = [](bool reads, short asked, short reported) {
    ended current{{}, reads, asked, reported};
    if (reads) return current;
    std::array<char, 4096> bytes{};
    ::fcntl(current.pipe.out, F_SETFL, O_NONBLOCK);
    while (::write(current.pipe.out, bytes.data(), bytes.size()) > 0) {
    }
    return current;
  };
  for (const bool waits_first : {false, true}) {
    for (const bool untested : {false, true}) {
      std::vector<ended> all;
      all.push_back(make(false, POLLOUT, POLLERR));  // a full pipe whose reader goes: POLLERR alone
      all.push_back(make(false, 0, POLLERR));
      all.push_back(make(true, POLLIN, POLLHUP));
      all.push_back(make(true, 0, POLLHUP));
      all.push_back(make(true, POLLOUT, POLLHUP));
      for (ended& current : all) {
        CAPTURE(current.asked);
        loop lp;
        const int number = current.reads ? current.pipe.in : current.pipe.out;
        int& other = current.reads ? current.pipe.out : current.pipe.in;
        auto located = spawn(
            lp,
            [](int fd, short asked, bool by_one) -> task<result<short>> {
              if (by_one) co_return co_await within(1min, poll_fd(fd, asked));
              pollfd expected{fd, asked, 0};
              const auto ready = co_await within(1min, poll_fds({&expected, 1}));
              if (!ready) co_return failure(ready.error());
              co_return expected.revents;
            },
            number, current.asked, untested);
        if (waits_first) lp.poll();
        ::close(std::exchange(other, -1));
        lp.run_until(located);
        const result<short> events = sync_wait(located);
        REQUIRE(events.has_value());
        CHECK((*events & current.reported) != 0);
      }
    }
  }
}

TEST_CASE("a wait for a number that is no descriptor is an error, and one for no number at all is left out") {
  static_cast<void>(sync_wait(within(0ms, poll_fd(0, 0))));  // the first wait opens what the thread waits with
  const int closed = ::dup(0);
  ::close(closed);
  for (const int number : {-1, closed, 1'000'000}) {
    CAPTURE(number);
    CHECK(sync_wait(within(1min, poll_fd(number, POLLIN))).error_or({}) == std::errc::bad_file_descriptor);
    pollfd expected{number, POLLIN, 0};
    const auto located = sync_wait(within(number < 0 ? 1ms : 1min, poll_fds({&expected, 1})));
    if (number < 0) CHECK(located.error_or({}) == std::errc::timed_out);
    else CHECK(expected.revents == POLLNVAL);
  }
}

TEST_CASE("the end of a loop ends its waits for numbers, and one loop leaves those of another alone") {
  number_pipe pipe;
  std::optional<loop> first(std::in_place);
  loop second;
  auto lost = spawn(*first, wait_for_input, pipe.in);
  auto saved = spawn(second, wait_for_input, pipe.in);
  first->run_for(1ms);
  second.run_for(1ms);
  lost.cancel();
  first->run();
  first.reset();
  CHECK(sync_wait(lost).error_or({}) == std::errc::operation_canceled);
  pipe.put();
  second.run();
  CHECK(sync_wait(saved) == std::size_t{1});
}

// The old file lives on under a copy, so its registration does, too. The number is another file's.
TEST_CASE("a number whose old file lives on elsewhere tells of its new file alone") {
  number_pipe old, fresh;
  loop lp;
  auto first = spawn(lp, wait_for_input, old.in);
  lp.run_for(1ms);
  first.cancel();
  lp.run();
  const int copy = ::dup(old.in);
  REQUIRE(::dup3(fresh.in, old.in, O_CLOEXEC) == old.in);
  auto second = spawn(lp, wait_for_input, old.in);
  lp.run_for(1ms);
  old.put();
  lp.run_for(1ms);
  CHECK_FALSE(second.done());
  fresh.put();
  lp.run();
  CHECK(sync_wait(second) == std::size_t{1});
  ::close(copy);
}

// One event serves one of them, and epoll reports no second one of a number that is not armed.
TEST_CASE("of two waits for one number the one that goes on waiting is armed again") {
  std::array<int, 2> ends;
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  std::array<char, 4096> bytes{};
  while (::write(ends[0], bytes.data(), bytes.size()) > 0) {
  }
  loop lp;
  auto output = spawn(lp, [number = ends[0]]() -> task<result<std::size_t>> {
    pollfd expected{number, POLLOUT, 0};
    auto located = co_await poll_fds({&expected, 1});
    co_return located;
  });
  auto input = spawn(lp, wait_for_input, ends[0]);
  lp.run_for(1ms);
  while (::read(ends[1], bytes.data(), bytes.size()) > 0) {
  }
  lp.run_until(output);
  CHECK(sync_wait(output) == std::size_t{1});
  CHECK_FALSE(input.done());
  REQUIRE(::write(ends[1], "x", 1) == 1);
  lp.run();
  CHECK(sync_wait(input) == std::size_t{1});
  for (int end : ends) ::close(end);
}

TEST_CASE("no wait is left behind by stop_polling on another thread") {
  number_pipe pipe;
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> over = false;
    std::thread other([&] {
      while (!over) stop_polling(pipe.in);
    });
    pollfd expected{pipe.in, POLLIN, 0};
    CHECK(sync_wait(poll_fds({&expected, 1})).error_or({}) == std::errc::operation_canceled);
    over = true;
    other.join();
  }
  stop_polling(-1);
  stop_polling(1'000'000);
}
