// Descriptors among loops, runtimes and threads; their ends; and what a system does that is not a stream of bytes on
// one loop.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/runtime/descriptor_parker.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "support/sockets.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<std::string> read_text(stream& from) {
  std::array<char, 64> buffer;
  auto returned = co_await from.read_some(buffer);
  co_return returned ? std::string(buffer.data(), *returned) : returned.error().message();
}

task<> read_and_count(stream& from, int& ended) {
  static_cast<void>(co_await read_text(from));
  ++ended;
}

task<std::size_t> write_much(stream& to, std::size_t size) {
  const std::vector<char> much(size, 'm');
  auto sent = co_await to.write_all(much);
  to.close();
  co_return sent.value_or(0);
}

std::size_t read_to_the_end(stream& from) {
  std::vector<char> buffer(50'000);
  std::size_t all = 0;
  for (;;) {
    const std::size_t returned = sync_wait(from.read_some(buffer)).value();
    if (returned == 0) return all;
    all += returned;
  }
}

}  // namespace

TEST_CASE("an operation that is awaited after its stream was given up does not touch the next one in its place") {
  auto [near, far] = connected();
  std::array<char, 8> buffer{};
  auto late = far.read_some(buffer);
  far = stream();
  auto [next_near, next_far] = connected();
  sync_wait(next_near.write_all("not yours")).value();
  sync_wait(next_far.write_all("not yours")).value();
  sync_wait(near.write_all("nobody's")).error_or({});
  const auto returned = sync_wait(std::move(late));
  REQUIRE_FALSE(returned.has_value());
  CHECK(returned.error() == std::errc::bad_file_descriptor);
}

TEST_CASE("a thread that waited in vain at a descriptor does not keep it from a runtime") {
  runtime rt({.workers = 2});
  auto [near, far] = connected();
  auto text = spawn(rt, read_text, std::ref(far));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(sync_wait(within(1ms, far.closed())).has_value());
  sync_wait(near.write_all("to the runtime")).value();
  while (!text.done()) std::this_thread::yield();  // without a wait, in which this thread would poll
  CHECK(sync_wait(text) == "to the runtime");
}

TEST_CASE("a loop that waits at a descriptor and does not run keeps nothing from another loop") {
  auto [near, far] = connected();
  int ended = 0;
  loop first, second;
  auto at_first = spawn(first, read_and_count, std::ref(far), std::ref(ended));
  first.poll();
  auto at_second = spawn(second, read_and_count, std::ref(far), std::ref(ended));
  second.poll();
  sync_wait(near.write_all("x")).value();
  second.run_for(1ms);
  sync_wait(near.write_all("y")).value();
  first.run_until(at_first);
  second.run_until(at_second);
  CHECK(ended == 2);
}

TEST_CASE("a loop reads what another loop waited for that has ended") {
  auto [near, far] = connected();
  int ended = 0;
  {
    loop first;
    spawn(first, read_and_count, std::ref(far), std::ref(ended));
    first.poll();
  }
  loop second;
  auto text = spawn(second, read_text, std::ref(far));
  second.poll();
  sync_wait(near.write_all("second")).value();
  second.run_until(text);
  CHECK(sync_wait(text) == "second");
}

TEST_CASE("the registration follows a stream to the loop that uses it, which alone is woken") {
  auto [near, far] = connected();
  loop first, second;
  for (loop* current : {&first, &second, &first}) {
    auto text = spawn(*current, read_text, std::ref(far));
    current->poll();
    sync_wait(near.write_all("here")).value();
    current->run_until(text);
    CHECK(sync_wait(text) == "here");
  }
}

TEST_CASE("what waits at the driver of a worker that computes is served by another thread") {
  runtime rt({.workers = 2});
  auto [near, far] = connected();
  std::atomic<bool> waits{false}, served{false};
  detail::worker_at first(rt, 0);
  auto computes = spawn(first, [&, &from = far]() -> task<> {
    auto reads = spawn([&]() -> task<> {
      char byte = 0;
      waits = true;
      auto returned = co_await within(30s, from.read_some(std::span(&byte, 1)));
      CHECK(returned == std::size_t{1});
      served = true;
    });
    while (!waits) co_await yield();
    co_await yield();
    while (!served) std::this_thread::yield();  // without letting go of the worker
    co_await reads;
  });
  while (!waits) std::this_thread::yield();
  sync_wait(near.write_all("x")).value();
  while (!computes.done()) std::this_thread::yield();
  CHECK(served);
}

TEST_CASE("a fiber whose stack is packed keeps it while it reads into a buffer there; a copied stack is refused") {
  loop lp;
  auto [near, far] = connected();
  const auto read = [&from = far] {
    std::array<char, 8> buffer;
    auto returned = await(from.read_some(buffer));
    return returned ? std::string(buffer.data(), *returned) : returned.error().message();
  };
  auto text = spawn(lp, {.hibernate_after = 1h}, read);
  lp.poll();
  hibernate_parked();
  sync_wait(near.write_all("packed")).value();
  lp.run_until(text);
  CHECK(sync_wait(text) == "packed");
  expect_fatal(
      [&] {
        loop other;
        other.run_until(spawn(other, {.stack = stack_kind::copied}, read));
      },
      "copied stack");
}

// The host sleeps in the parker, and the driver has more to do.
TEST_CASE("a long write goes on in a loop that sleeps in a parker of its own") {
  descriptor_parker bed;
  loop lp({.parker = &bed});
  auto [near, far] = connected();
  auto sent = spawn(lp, write_much, std::ref(near), std::size_t{10'000'000});
  std::size_t returned = 0;
  std::thread reader([&returned, &from = far] { returned = read_to_the_end(from); });
  lp.run_until(sent);
  reader.join();
  CHECK(returned == 10'000'000);
}

// Of a file no event tells that it can go on.
TEST_CASE("a transfer that is pending goes on in a loop that sleeps in a parker of its own") {
  descriptor_parker bed;
  loop lp({.parker = &bed});
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  auto whole = stream::adopt(::dup(::fileno(file))).value();
  auto sent = spawn(lp, write_much, std::ref(whole), std::size_t{5'000'000});
  lp.run_until(sent);
  CHECK(sync_wait(sent) == 5'000'000);
  std::fclose(file);
}

TEST_CASE("a read of a unix socket that stops behind a passed descriptor is followed by the rest") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  auto [near, far] = streams_of(ends[0], ends[1]);
  loop lp;
  auto first = spawn(lp, read_text, std::ref(far));
  lp.poll();
  char byte = 'a';
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const passed = CMSG_FIRSTHDR(&message);
  passed->cmsg_level = SOL_SOCKET;
  passed->cmsg_type = SCM_RIGHTS;
  passed->cmsg_len = CMSG_LEN(sizeof(int));
  *reinterpret_cast<int*>(CMSG_DATA(passed)) = 0;
  REQUIRE(::sendmsg(ends[0], &message, 0) == 1);
  REQUIRE(::send(ends[0], "b", 1, 0) == 1);
  lp.run_until(first);
  auto second = spawn(lp, read_text, std::ref(far));
  lp.run_until(second);
  CHECK(sync_wait(first) == "a");
  CHECK(sync_wait(second) == "b");
}

TEST_CASE("a regular file is a stream that never waits") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  auto whole = stream::adopt(::dup(::fileno(file))).value();
  const std::vector<char> much(3'000'000, 'f');
  CHECK(sync_wait(whole.write_all(much)) == much.size());
  loop lp;
  auto more = spawn(lp, write_much, std::ref(whole), much.size());
  lp.run_until(more);
  CHECK(sync_wait(more) == much.size());
  REQUIRE(::lseek(::fileno(file), 0, SEEK_SET) == 0);
  auto again = stream::adopt(::dup(::fileno(file))).value();
  CHECK(read_to_the_end(again) == 2 * much.size());
  std::fclose(file);
}

TEST_CASE("a write that fails in the middle tells how much it has written") {
  auto [near, far] = connected(4096);
  const std::vector<char> much(1'000'000, 'p');
  const auto late = sync_wait(within(5ms, near.write_all(much)));
  CHECK(late.error_or({}) == std::errc::timed_out);
  const std::size_t written = near.partial_write_size();
  CHECK(written > 0);
  CHECK(written < much.size());
  near.close();
  CHECK(read_to_the_end(far) == written);

  auto [other, end] = connected();
  sync_wait(other.write_all("abc")).value();
  other.close();
  std::array<char, 8> buffer;
  CHECK(sync_wait(end.read_exactly(buffer)).error_or({}) == errc::end_of_stream);
  CHECK(end.partial_read_size() == 3);
}

TEST_CASE("an operation of a descriptor that is gone leaves no count at the next one") {
  std::array<char, 8> buffer{};
  auto [near, far] = connected();
  auto late = far.read_exactly(buffer);
  far = stream();
  near = stream();
  std::vector<stream_pair> next;  // one of them is in the place of the former one
  for (int i = 0; i < 4; ++i) {
    next.push_back(connected());
    for (stream* current : {&next.back().near, &next.back().far}) {
      stream& other = current == &next.back().near ? next.back().far : next.back().near;
      sync_wait(other.write_all("abc")).value();
      CHECK_FALSE(sync_wait(within(1ms, current->read_exactly(buffer))));
      CHECK(current->partial_read_size() == 3);
    }
  }
  CHECK(sync_wait(std::move(late)).error_or({}) == std::errc::bad_file_descriptor);
  for (const stream_pair& pair : next) {
    CHECK(pair.near.partial_read_size() == 3);
    CHECK(pair.far.partial_read_size() == 3);
  }
}

TEST_CASE("a descriptor is adopted, and given up open, unless an operation is under way") {
  const int number = ::eventfd(0, EFD_CLOEXEC);
  auto current = descriptor::adopt(number).value();
  CHECK(current.native_handle() == number);
  CHECK((::fcntl(number, F_GETFL) & O_NONBLOCK) != 0);
  loop lp;
  auto waits = spawn(
      lp,
      [](descriptor& owner) -> task<std::error_code> {
        auto ready = co_await owner.readable();
        co_return ready.error_or({});
      },
      std::ref(current));
  lp.poll();
  CHECK(current.release().error() == std::errc::device_or_resource_busy);
  waits.cancel();
  lp.run_until(waits);
  CHECK(current.release() == number);
  CHECK_FALSE(static_cast<bool>(current));
  CHECK(current.release().error() == std::errc::bad_file_descriptor);
  const std::uint64_t value = 1;
  CHECK(::write(number, &value, sizeof value) == sizeof value);
  ::close(number);
  CHECK(descriptor::adopt(number).error() == std::errc::bad_file_descriptor);
  CHECK(descriptor::adopt(-1).error() == std::errc::bad_file_descriptor);
}

TEST_CASE("an operation on no descriptor is an error at once, and in a wait") {
  stream none;
  std::array<char, 8> buffer;
  CHECK(none.native_handle() == -1);
  CHECK(sync_wait(none.read_some(buffer)).error() == std::errc::bad_file_descriptor);
  CHECK(sync_wait(none.write_all("x")).error() == std::errc::bad_file_descriptor);
  CHECK(sync_wait(none.closed()).error() == std::errc::bad_file_descriptor);
  none.close();
}

TEST_CASE("a first wait without descriptors for its driver is an error, and the next one tries again") {
  const child_end end = end_of_child([] {
    auto [near, far] = connected();
    rlimit before{}, none{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 5;
    ::setrlimit(RLIMIT_NOFILE, &none);
    std::array<char, 8> buffer;
    CHECK(sync_wait(far.read_some(buffer)).error_or({}) == std::errc::too_many_files_open);
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(sync_wait(within(1ms, far.read_some(buffer))).error_or({}) == std::errc::timed_out);
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

TEST_CASE("both sides of a fork wait at a descriptor, each with a driver of its own (fault 50)") {
  auto [near, far] = connected();
  CHECK_FALSE(sync_wait(within(1ms, far.readable())).has_value());
  const child_end end = end_of_child([&] {
    CHECK_FALSE(sync_wait(within(1ms, far.readable())).has_value());
    sync_wait(near.write_all("from the child")).value();
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
  CHECK(sync_wait(far.readable()).has_value());
}
