// A deadline that has passed ends a coroutine of a loop that waits again and again for what is always there.
#include <hocket/base/clock.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/copy.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include <doctest/doctest.h>
#include <poll.h>

using namespace hocket;
using namespace std::chrono_literals;

TEST_CASE("a deadline that has passed ends waits for a descriptor that is always ready") {
  loop lp;
  pipe_ends ends = make_pipe().value();
  int waits = 0;
  std::error_code error;
  auto waiting = [&]() -> task<> {
    while (!error && waits < 100) {
      auto events = co_await poll_fd(ends.writer.native_handle(), POLLOUT);
      if (!events) error = events.error();
      else ++waits;
    }
  };
  auto ended = spawn(lp, {.within = 0ms}, waiting);
  while (!ended.done()) lp.poll();
  CHECK(error == std::errc::timed_out);
  CHECK(waits <= 3);
}

TEST_CASE("a wait for no time finds what is there, and no deadline ends it before") {
  loop lp;
  pipe_ends ends = make_pipe().value();
  int found = 0;
  auto waiting = [&]() -> task<> {
    for (int i = 0; i < 10; ++i) {
      auto events = co_await within(0ms, poll_fd(ends.writer.native_handle(), POLLOUT));
      found += events.has_value();
    }
  };
  auto ended = spawn(lp, waiting);
  while (!ended.done()) lp.poll();
  CHECK(found == 10);
}

namespace {

// In memory: nothing of them ever waits.
struct zeros {
  task<result<std::size_t>> read_some(mutable_buffer into) {
    ++reads;
    co_return into.size();
  }
  int reads = 0;
};
struct nowhere {
  task<result<std::size_t>> write_all(const_buffer data) { co_return data.size(); }
};

}  // namespace

TEST_CASE("a copy in memory lets others run, and its deadline ends it") {
  manual_clock time;
  loop lp({.clock = &time});
  zeros source;
  nowhere sink;
  std::error_code error;
  int reads_before = -1;
  auto copies = [&]() -> task<> {
    auto copied = co_await copy(source, sink);
    error = copied.error_or({});
  };
  auto other = [&]() -> task<> {
    reads_before = source.reads;
    time.advance(5ms);
    co_return;
  };
  auto ended = spawn(lp, {.within = 5ms}, copies);
  spawn(lp, other);
  while (!ended.done()) lp.poll();
  CHECK(error == std::errc::timed_out);
  CHECK(reads_before <= 256);
  CHECK(source.reads <= 512);
}
