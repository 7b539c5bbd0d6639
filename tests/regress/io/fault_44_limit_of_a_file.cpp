// FAULTS 44: SIGXFSZ, as SIGPIPE. A write beyond RLIMIT_FSIZE gives file_too_large in every way to write, and the
// process lives: on the pool's threads and on workers, which block the signal, and in the calls of a stream on a
// thread of the user's, which has the same mask afterwards.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/buffered_writer.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/standard_streams.hpp>
#include <hocket/io/unique_fd.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/death.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t limit = 4096;

template <class T>
bool is_too_large(const result<T>& outcome) {
  return !outcome && outcome.error() == std::errc::file_too_large;
}

// With the default action, and the signal unblocked.
template <class Body>
void expect_no_signal(Body body) {
  expect_return([&] {
    std::signal(SIGXFSZ, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    const rlimit most{limit, RLIM_INFINITY};
    CHECK(::setrlimit(RLIMIT_FSIZE, &most) == 0);
    body();
  });
}

const std::string& too_much() {
  static const std::string text(2 * limit, 'z');
  return text;
}

int open_at_limit(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0);
  CHECK(::lseek(fd, limit, SEEK_SET) == limit);
  return fd;
}

// Each way of a file. How many give the error.
task<int> write_file_in_every_way(std::string path) {
  int too_large = 0;
  const file_options written{.write = true, .append = true, .create = true};
  file appended = (co_await file::open(path, written)).value();
  file placed = (co_await file::open(path, {.write = true})).value();
  too_large += is_too_large(co_await placed.write_at("x", limit)) ? 1 : 0;
  too_large += is_too_large(co_await placed.write_at(too_much(), 0)) ? 1 : 0;
  too_large += is_too_large(co_await placed.resize(limit + 1)) ? 1 : 0;
  too_large += is_too_large(co_await appended.append(too_much())) ? 1 : 0;
  too_large += is_too_large(co_await write_file(path, too_much())) ? 1 : 0;
  auto by_hand = co_await blocking([&] { return ::pwrite(placed.native_handle(), "x", 1, limit) < 0 ? errno : 0; });
  too_large += by_hand == EFBIG ? 1 : 0;
  co_return too_large;
}
constexpr int all_ways_of_a_file = 6;

// Each way of a stream.
task<int> write_stream_in_every_way(std::string path) {
  stream to = stream::adopt(open_at_limit(path)).value();
  const unique_fd source(open_at_limit(path + " of another"));
  CHECK(::pwrite(source.native_handle(), "x", 1, 0) == 1);
  const std::array<const_buffer, 2> parts{"one", "two"};
  int too_large = 0;
  too_large += is_too_large(co_await to.write_some("x")) ? 1 : 0;
  too_large += is_too_large(co_await to.write_all("x")) ? 1 : 0;
  too_large += is_too_large(co_await to.write_some(parts)) ? 1 : 0;
  too_large += is_too_large(co_await to.write_all(parts)) ? 1 : 0;
  too_large += is_too_large(co_await send_file(to, source.native_handle(), 0, 1)) ? 1 : 0;
  buffered_writer writer(to);
  writer.append("through a buffer");
  too_large += is_too_large(co_await writer.flush()) ? 1 : 0;
  co_return too_large;
}
constexpr int all_ways_of_a_stream = 6;

int write_file_as_fiber(const std::string& path) { return await(write_file_in_every_way(path)); }
int write_stream_as_fiber(const std::string& path) { return await(write_stream_in_every_way(path)); }

bool is_blocked(int signal) {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

bool is_pending(int signal) {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

template <class Task, class Fiber>
void write_everywhere(Task* as_task, Fiber* as_fiber, int all) {
  temporary_folder folder;
  const std::string path = folder / "limited";
  CHECK(sync_wait(as_task(path)) == all);
  loop lp;
  auto in_fiber = spawn(lp, as_fiber, path);
  auto in_task = spawn(lp, as_task, path);
  lp.run_until(in_fiber);
  lp.run_until(in_task);
  CHECK(sync_wait(in_fiber) == all);
  CHECK(sync_wait(in_task) == all);
  CHECK_FALSE(is_blocked(SIGXFSZ));
  CHECK_FALSE(is_pending(SIGXFSZ));
  runtime rt({.workers = 2});
  CHECK(sync_wait(spawn(rt, as_task, path)) == all);
  CHECK(sync_wait(spawn(rt, as_fiber, path)) == all);
}

}  // namespace

TEST_CASE("no way to write to a file beyond its limit raises SIGXFSZ (fault 44)") {
  expect_no_signal([] { write_everywhere(&write_file_in_every_way, &write_file_as_fiber, all_ways_of_a_file); });
}

TEST_CASE("no way to write to a stream beyond the limit of its file raises SIGXFSZ (fault 44)") {
  expect_no_signal([] { write_everywhere(&write_stream_in_every_way, &write_stream_as_fiber, all_ways_of_a_stream); });
}

TEST_CASE("the standard output raises no SIGXFSZ beyond the limit of its file (fault 44)") {
  temporary_folder folder;
  expect_no_signal([&] {
    REQUIRE(::dup2(open_at_limit(folder / "output"), 1) == 1);
    stream out = standard_output().value();
    CHECK(is_too_large(sync_wait(out.write_all("x"))));
    CHECK_FALSE(is_blocked(SIGXFSZ));
  });
}

TEST_CASE("a coroutine on a worker writes beyond the limit by a call of its own and gets the error (fault 44)") {
  temporary_folder folder;
  expect_no_signal([&] {
    runtime rt({.workers = 2});
    auto write = [](int fd) -> task<int> { co_return ::write(fd, "x", 1) < 0 ? errno : 0; };
    CHECK(sync_wait(spawn(rt, write, open_at_limit(folder / "own"))) == EFBIG);
  });
}

TEST_CASE("after a failed write a thread blocks the signals that it blocked before, and none more (fault 44)") {
  temporary_folder folder;
  expect_no_signal([&] {
    std::signal(SIGPIPE, SIG_DFL);
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    ::close(ends[0]);
    stream broken = stream::adopt(ends[1]).value();
    stream limited = stream::adopt(open_at_limit(folder / "limited")).value();
    for (int round = 0; round != 2; ++round) {
      CHECK(sync_wait(broken.write_some("x")).error_or({}) == std::errc::broken_pipe);
      CHECK(is_too_large(sync_wait(limited.write_some("x"))));
      CHECK_FALSE(is_blocked(SIGPIPE));
      CHECK_FALSE(is_blocked(SIGXFSZ));
      CHECK_FALSE(is_pending(SIGPIPE));
      CHECK_FALSE(is_pending(SIGXFSZ));
    }
  });
}

TEST_CASE("a SIGXFSZ that a program has blocked and pending is still pending after a failed write (fault 44)") {
  temporary_folder folder;
  expect_no_signal([&] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    ::raise(SIGXFSZ);
    stream limited = stream::adopt(open_at_limit(folder / "limited")).value();
    CHECK(is_too_large(sync_wait(limited.write_some("x"))));
    CHECK(is_pending(SIGXFSZ));
    CHECK(is_blocked(SIGXFSZ));
  });
}
