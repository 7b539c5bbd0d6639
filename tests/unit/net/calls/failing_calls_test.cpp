// Every system call that I/O makes fails once, at each of its places: a scenario that uses all operations then ends as
// it should, or with that error; it never hangs, and leaves no descriptor open.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/io/unique_fd.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "unit/net/calls/failing_calls.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr auto long_enough = 20s;  // a wait that lasts so long is lost

std::size_t open_numbers() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& current : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// Writes after its reader has begun to wait, then closes.
task<result<void>> write_late(tcp::stream to) {
  for (int i = 0; i < 3; ++i) co_await yield();
  const std::array<const_buffer, 2> parts{"late ", "parts"};
  co_await or_return(within(long_enough, to.write_all(parts)));
  const std::string much(300'000, 'm');
  co_await or_return(within(long_enough, to.write_all(much)));
  co_return to.shutdown_write();
}

task<result<void>> use_tcp() {
  auto door =
      co_await or_return(std::invoke([]() -> result<tcp::listener> { return tcp::listener::bind("127.0.0.1:0"); }));
  auto late = co_await within(0ms, door.accept());
  if (late || late.error() != std::errc::timed_out) co_return failure(late ? std::error_code() : late.error());
  auto near = co_await or_return(within(long_enough, tcp::connect(door.local_address())));
  auto far = co_await or_return(within(long_enough, door.accept()));
  auto writer = spawn(write_late, std::move(far));
  std::array<char, 4> first{}, second{};
  const std::array<mutable_buffer, 2> rooms{first, second};
  const result<std::size_t> head = co_await within(long_enough, near.read_exactly(rooms));
  std::size_t sum = 0;
  result<borrowed_bytes> bytes;
  while (head) {
    bytes = co_await within(long_enough, near.read_borrowed());
    if (!bytes || bytes->empty()) break;
    sum += bytes->size();
  }
  near.close();
  const result<void> written = co_await writer.join();
  if (!written && written.error() != std::errc::broken_pipe) co_return failure(written.error());
  if (!head) co_return failure(head.error());
  if (!bytes) co_return failure(bytes.error());
  CHECK(sum == 300'002);
  co_return {};
}

task<result<void>> write_to_pipe(stream to) {
  co_await yield();
  co_await or_return(within(long_enough, to.write_all("through a pipe")));
  const std::array<const_buffer, 2> parts{"\nin ", "parts\n"};
  co_await or_return(within(long_enough, to.write_all(parts)));
  co_return {};
}

task<result<void>> use_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) co_return failure(std::errc::too_many_files_open);
  auto in = stream::adopt(ends[0]);
  auto out = stream::adopt(ends[1]);
  if (!in) ::close(ends[0]);
  if (!out) ::close(ends[1]);
  if (!in) co_return failure(in.error());
  if (!out) co_return failure(out.error());
  auto writer = spawn(write_to_pipe, std::move(*out));
  std::array<char, 8> first{};
  std::array<char, 6> second{};
  const std::array<mutable_buffer, 2> rooms{first, second};
  const result<std::size_t> head = co_await within(long_enough, in->read_exactly(rooms));
  buffered_reader reader(*in);
  result<std::optional<std::string_view>> line;
  for (int i = 0; head && i < 2 && (i == 0 || line); ++i) line = co_await reader.read_line();
  in->close();
  const result<void> written = co_await writer.join();
  if (!head && written) co_return failure(head.error());
  if (!line) co_return failure(line.error());
  if (!written && written.error() != std::errc::broken_pipe) co_return failure(written.error());
  if (written) CHECK(line->value_or("") == "in parts");
  co_return {};
}

task<result<void>> use_udp() {
  auto near = udp::socket::bind("127.0.0.1:0");
  if (!near) co_return failure(near.error());
  auto far = udp::socket::bind("127.0.0.1:0");
  if (!far) co_return failure(far.error());
  std::array<char, 16> room{};
  auto none = co_await within(0ms, far->receive(room));
  if (none || none.error() != std::errc::timed_out) co_return failure(none ? std::error_code() : none.error());
  co_await or_return(within(long_enough, near->send("datagram", far->local_address())));
  const auto datagram = co_await or_return(within(long_enough, far->receive(room)));
  CHECK(datagram.size == 8);
  co_return {};
}

task<> put_late(int number) {
  for (int i = 0; i < 3; ++i) co_await yield();
  CHECK(::sendto(number, "x", 1, 0, nullptr, 0) == 1);  // a call that no test fails
}

task<result<void>> use_numbers_and_files() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    co_return failure(std::errc::too_many_files_open);
  const unique_fd in(ends[0]), out(ends[1]);
  pollfd expected{ends[0], POLLIN, 0};
  const auto late = co_await within(0ms, poll_fds({&expected, 1}));
  if (late || late.error() != std::errc::timed_out) co_return failure(late ? std::error_code() : late.error());
  auto puts = spawn(put_late, ends[1]);
  const auto ready = co_await within(long_enough, poll_fds({&expected, 1}));
  CHECK((co_await puts.join()).has_value());
  if (!ready) co_return failure(ready.error());
  CHECK(expected.revents == POLLIN);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  std::fputs("a file", file.get());
  std::fflush(file.get());
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    co_return failure(std::errc::too_many_files_open);
  auto near = stream::adopt(sockets[0]);
  if (!near) ::close(sockets[0]);
  ::close(sockets[1]);
  if (!near) co_return failure(near.error());
  const auto sent = co_await send_file(*near, ::fileno(file.get()), 0, 6);
  if (!sent && sent.error() != std::errc::broken_pipe) co_return failure(sent.error());
  co_return {};
}

task<result<void>> use_signals() {
  signal_set asked{SIGUSR1};
  ::raise(SIGUSR1);
  const int received = co_await or_return(within(long_enough, asked.next()));
  CHECK(received == SIGUSR1);
  co_return {};
}

constexpr std::array all_parts{&use_tcp, &use_pipe, &use_udp, &use_numbers_and_files, &use_signals};

std::error_code run(loop& on, task<result<void>> (*part)()) {
  auto used = spawn(on, part);
  on.run();
  try {
    const auto cause = sync_wait(used);
    return cause ? std::error_code() : cause.error();
  } catch (const std::system_error& thrown) {
    return thrown.code();
  }
}

// What went wrong; nothing, if all went well.
std::vector<std::error_code> use_all() {
  std::vector<std::error_code> errors;
  for (auto part : all_parts) {
    loop lp;
    if (const std::error_code error = run(lp, part)) errors.push_back(error);
  }
  return errors;
}

// Each call of `which`, one after the other. How many there are.
int fail_each(called which, int error) {
  static const std::vector<std::error_code> first = use_all();  // what a process keeps from then on is open
  REQUIRE(first.empty());
  for (int nth = 1;; ++nth) {
    CAPTURE(nth);
    const std::size_t before = open_numbers();
    fail_call(which, nth, error);
    const std::vector<std::error_code> errors = use_all();
    const int created = calls_made();
    fail_call(called::count, 0, 0);
    CHECK(open_numbers() == before);
    if (created < nth) return nth - 1;
    CHECK((errors.size() <= 1 || which == called::getsockname));
    // Without its name a socket has an invalid address, and whatever uses that fails.
    for (const std::error_code& current : errors)
      CHECK((current == std::error_code(error, std::system_category()) || which == called::getsockname));
    if (error == EINTR) CHECK(errors.empty());
  }
}

}  // namespace

TEST_CASE("a scenario in which no call fails goes well") {
  fail_call(called::count, 0, 0);
  CHECK(use_all().empty());
}

TEST_CASE("every call may fail for want of memory or descriptors, and its error is told") {
  for (const called current :
       {called::accept4, called::bind,     called::connect, called::epoll_create1, called::epoll_ctl,
        called::eventfd, called::listen,   called::readv,   called::recv,          called::recvmmsg,
        called::recvmsg, called::read,     called::send,    called::sendfile,      called::sendmmsg,
        called::sendmsg, called::shutdown, called::socket,  called::write,         called::writev}) {
    CAPTURE(call_names[static_cast<std::size_t>(current)]);
    for (const int error : {ENOMEM, ENOBUFS}) CHECK(fail_each(current, error) > 0);
  }
}

TEST_CASE("a call that a signal has interrupted is made again") {
  for (const called current : {called::accept4, called::epoll_wait, called::readv, called::recv, called::recvmmsg,
                               called::recvmsg, called::read, called::send, called::sendfile, called::sendmmsg,
                               called::sendmsg, called::write, called::writev}) {
    CAPTURE(call_names[static_cast<std::size_t>(current)]);
    CHECK(fail_each(current, EINTR) > 0);
  }
}

// Options that cannot be asked or set; a look that fails.
TEST_CASE("what only helps may fail: the scenario goes on, or tells the error") {
  for (const called current :
       {called::fcntl, called::getsockname, called::getsockopt, called::poll, called::setsockopt}) {
    CAPTURE(call_names[static_cast<std::size_t>(current)]);
    CHECK(fail_each(current, ENOMEM) > 0);
  }
}

// An error leaves nothing half-made behind in its loop.
TEST_CASE("after a call that has failed the same loop uses everything as before") {
  for (const called current :
       {called::accept4, called::connect, called::epoll_create1, called::epoll_ctl, called::eventfd, called::readv,
        called::recv, called::recvmsg, called::recvmmsg, called::read, called::send, called::sendmmsg, called::sendmsg,
        called::socket, called::write, called::writev}) {
    CAPTURE(call_names[static_cast<std::size_t>(current)]);
    for (auto part : all_parts) {
      for (int nth = 1;; ++nth) {
        CAPTURE(nth);
        loop lp;
        fail_call(current, nth, ENOMEM);
        static_cast<void>(run(lp, part));
        const int created = calls_made();
        fail_call(called::count, 0, 0);
        if (created < nth) break;
        CHECK(run(lp, part) == std::error_code());
      }
    }
  }
}

// The peer has the first part of a message: what came next would stand in its middle. Each call that writes, by each
// error that leaves the connection open.
TEST_CASE("a write that fails in its middle for want of memory is partial, and nothing is written behind it") {
  const std::string much(500'000, 'm');  // several calls
  const std::array<const_buffer, 2> parts{much, much};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  REQUIRE(std::fwrite(much.data(), 1, much.size(), file.get()) == much.size());
  REQUIRE(std::fwrite(much.data(), 1, much.size(), file.get()) == much.size());
  REQUIRE(std::fflush(file.get()) == 0);
  for (const called call : {called::send, called::sendmsg, called::sendfile}) {
    for (const int error : {ENOBUFS, ENOMEM}) {
      CAPTURE(call_names[static_cast<std::size_t>(call)]);
      CAPTURE(error);
      auto [near, far] = make_unix_pair().value();
      std::size_t moved = 0;
      const auto write = [&]() -> result<std::size_t> {
        if (call == called::send) return sync_wait(within(1s, near.write_all(much, moved)));
        if (call == called::sendmsg) return sync_wait(within(1s, near.write_all(parts, moved)));
        return sync_wait(within(1s, send_file(near, ::fileno(file.get()), 0, 2 * much.size(), moved)));
      };
      fail_call(call, 2, error);
      CHECK(write().error_or({}) == std::error_code(error, std::system_category()));
      fail_call(called::count, 0, 0);
      CHECK(moved > 0);
      CHECK(near.partial_write_size() == moved);
      const std::array<const int, 1> fds{::fileno(file.get())};
      CHECK(sync_wait(near.write_some("next")).error_or({}) == errc::partial_write);
      CHECK(sync_wait(near.write_all("next")).error_or({}) == errc::partial_write);
      CHECK(sync_wait(near.write_some(parts)).error_or({}) == errc::partial_write);
      CHECK(sync_wait(near.write_all(parts)).error_or({}) == errc::partial_write);
      CHECK(sync_wait(near.send_with_fds("next", fds)).error_or({}) == errc::partial_write);
      CHECK(sync_wait(send_file(near, fds[0], 0, 1)).error_or({}) == errc::partial_write);
      CHECK(near.partial_write_size() == moved);
      CHECK(near.resume_after_partial_write() == moved);
      std::string room(moved, '\0');
      CHECK(sync_wait(far.read_exactly(room)) == moved);
      CHECK(sync_wait(near.write_all("rest")) == std::size_t{4});
      std::array<char, 4> rest{};
      CHECK(sync_wait(far.read_exactly(rest)) == std::size_t{4});
      CHECK(std::string_view(rest.data(), 4) == "rest");
    }
  }
}

// Keepalive probes and TCP_USER_TIMEOUT end connections with ETIMEDOUT.
TEST_CASE("a peer that the system has given up is lost, and no deadline has passed") {
  const std::string much(500'000, 'm');
  const std::array<const_buffer, 2> parts{much, much};
  std::array<char, 4> room{};
  const std::array<mutable_buffer, 2> rooms{room, room};
  std::array<unique_fd, 1> fds;
  const std::array<int, 1> sent{0};
  const auto lost = [&](called call, auto operation) {
    CAPTURE(call_names[static_cast<std::size_t>(call)]);
    fail_call(call, 1, ETIMEDOUT);
    const auto returned = sync_wait(within(long_enough, std::move(operation)));
    fail_call(called::count, 0, 0);
    REQUIRE_FALSE(returned.has_value());
    CHECK(returned.error() == errc::peer_lost);
    CHECK(returned.error() == std::errc::connection_aborted);
    CHECK(returned.error() != std::errc::timed_out);
  };
  auto [near, far] = make_unix_pair().value();
  lost(called::recv, near.read_some(room));
  lost(called::recv, near.read_exactly(room));
  lost(called::recv, near.read_borrowed());
  lost(called::recv, near.read_idle());
  lost(called::recv, read_all(near));
  lost(called::recvmsg, near.read_some(rooms));
  lost(called::recvmsg, near.read_exactly(rooms));
  lost(called::recvmsg, near.receive_with_fds(room, fds));
  lost(called::send, near.write_some(much));
  lost(called::send, near.write_all(much));
  lost(called::sendmsg, near.write_some(parts));
  lost(called::sendmsg, near.write_all(parts));
  lost(called::sendmsg, near.send_with_fds("x", sent));
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  lost(called::connect, tcp::connect(door.local_address()));
  auto socket = udp::socket::bind("127.0.0.1:0").value();
  lost(called::recvmmsg, socket.receive(room));
  lost(called::sendmmsg, socket.send("x", socket.local_address()));
}
