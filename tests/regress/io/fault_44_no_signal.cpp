// FAULTS 44: SIGPIPE has its default action, and the reader is gone. Every way to write gives an error, and the process
// lives. A SIGPIPE that the program itself has pending stays pending.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/buffered_writer.hpp>
#include <hocket/io/copy.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/standard_streams.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/numbers.hpp"
#include "support/tcp_pair.hpp"
#include "support/waits.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

template <class T>
bool is_gone(const result<T>& how) {
  return !how && (how.error() == std::errc::broken_pipe || how.error() == std::errc::connection_reset);
}

struct file_to_send {
  file_to_send() {
    std::fputs("a file", file.get());
    std::fflush(file.get());
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
};

// Each way to write to a stream without a reader. How many give the error.
task<int> write_in_every_way(stream& to) {
  const std::array<const_buffer, 2> parts{"one", "two"};
  const file_to_send file;
  int gone = 0;
  gone += is_gone(co_await to.write_some("x")) ? 1 : 0;
  gone += is_gone(co_await to.write_all("x")) ? 1 : 0;
  gone += is_gone(co_await to.write_some(parts)) ? 1 : 0;
  gone += is_gone(co_await to.write_all(parts)) ? 1 : 0;
  gone += is_gone(co_await send_file(to, ::fileno(file.file.get()), 0, 6)) ? 1 : 0;
  buffered_writer writer(to);
  writer.append("through a buffer");
  gone += is_gone(co_await writer.flush()) ? 1 : 0;
  auto [reader, source] = make_pipe().value();
  static_cast<void>(co_await source.write_all("through a copy"));
  source.close();
  gone += is_gone(co_await copy(reader, to)) ? 1 : 0;
  co_return gone;
}
constexpr int all_ways = 7;

int write_as_fiber(stream& to) { return await(write_in_every_way(to)); }

void expect_errors(stream& to) {
  CHECK(sync_wait(write_in_every_way(to)) == all_ways);
  loop lp;
  auto in_fiber = spawn(lp, write_as_fiber, std::ref(to));
  lp.run_until(in_fiber);
  CHECK(sync_wait(in_fiber) == all_ways);
  runtime rt({.workers = 2});
  CHECK(sync_wait(spawn(rt, write_in_every_way, std::ref(to))) == all_ways);
}

// With the default action, and the signal unblocked.
template <class Body>
void expect_no_signal(Body body) {
  const child_end end = end_of_child([&] {
    std::signal(SIGPIPE, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGPIPE);
    ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    body();
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

void passing_without_reader() {
  auto [near, far] = make_unix_pair().value();
  far.close();
  const std::array numbers{0};
  CHECK(is_gone(sync_wait(near.send_with_fds("x", numbers))));
  expect_errors(near);
}

// The reader goes while a write waits for room: the driver's thread makes the call that fails.
template <class Pair>
void reader_goes_during_write(Pair ends, stream& near, stream& far) {
  runtime rt({.workers = 2});
  auto write = [](stream& to) -> task<bool> {
    const std::vector<char> much(20'000'000);
    co_return is_gone(co_await to.write_all(much));
  };
  auto writer = spawn(rt, write, std::ref(near));
  block_until_waits(near);
  far.close();
  CHECK(sync_wait(writer));
  static_cast<void>(ends);
}

}  // namespace

TEST_CASE("no way to write to a stream without a reader raises SIGPIPE (fault 44)") {
  expect_no_signal([] {
    auto pipe = make_pipe().value();
    pipe.reader.close();
    expect_errors(pipe.writer);
  });
  expect_no_signal([] {
    tcp_pair tcp = make_tcp_pair();
    CHECK(tcp.far.set_reset_on_close(true).has_value());
    tcp.far.close();
    expect_errors(tcp.near);
  });
  expect_no_signal([] {
    tcp_pair tcp = make_tcp_pair();
    CHECK(tcp.near.shutdown_write().has_value());
    expect_errors(tcp.near);
  });
  expect_no_signal(&passing_without_reader);
}

TEST_CASE("a write that waits when its reader goes raises no SIGPIPE (fault 44)") {
  expect_no_signal([] {
    auto pipe = make_pipe().value();
    reader_goes_during_write(0, pipe.writer, pipe.reader);
    tcp_pair tcp = make_tcp_pair();
    reader_goes_during_write(0, tcp.near, tcp.far);
    auto pair = make_unix_pair().value();
    reader_goes_during_write(0, pair.near, pair.far);
  });
}

TEST_CASE("the standard output and the input of a child raise no SIGPIPE (fault 44)" *
          doctest::skip(starts_no_children())) {
  expect_no_signal([] {
    number_pipe pipe;
    REQUIRE(::dup2(pipe.out, STDOUT_FILENO) == STDOUT_FILENO);
    ::close(std::exchange(pipe.in, -1));
    stream out = standard_output().value();
    CHECK(is_gone(sync_wait(out.write_all("x"))));
    process child = process::start({"true"}, {.in = process::pipe}).value();
    CHECK(sync_wait(child.wait()) == exit_status(0));
    expect_errors(child.in());
  });
}

TEST_CASE("a SIGPIPE that a program has blocked and pending is still pending after a failed write (fault 44)") {
  expect_no_signal([] {
    sigset_t one, pending;
    sigemptyset(&one);
    sigaddset(&one, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
    ::raise(SIGPIPE);
    auto pipe = make_pipe().value();
    pipe.reader.close();
    CHECK(sync_wait(write_in_every_way(pipe.writer)) == all_ways);
    ::sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 1);
    const timespec none{};
    CHECK(::sigtimedwait(&one, nullptr, &none) == SIGPIPE);
    CHECK(sync_wait(write_in_every_way(pipe.writer)) == all_ways);
    ::sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
  });
}
