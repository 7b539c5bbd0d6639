// Descriptors that are no streams: timers, epolls, eventfds of others; readiness that comes and goes; and many that
// wait for one readiness.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/numbers.hpp"
#include "support/sockets.hpp"
#include "support/waits.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

template <class T>
bool timed_out(const result<T>& how) {
  return !how && how.error() == std::errc::timed_out;
}

task<> await_readable(stream& at, std::atomic<int>& ended) {
  const result<void> ready = co_await at.readable();
  if (ready) ++ended;
}

}  // namespace

TEST_CASE("readiness to read goes with the bytes, and comes again with the next") {
  auto [near, far] = connected();
  for (int i = 0; i < 3; ++i) {
    CHECK(timed_out(sync_wait(within(0ms, far.readable()))));
    number_pair::put(near.native_handle());
    CHECK(sync_wait(far.readable()).has_value());
    CHECK(sync_wait(far.readable()).has_value());
    number_pair::drain(far.native_handle());
  }
}

TEST_CASE("readiness to write goes when the buffers are full, and comes when the peer has read") {
  auto [near, far] = connected();
  loop lp;
  for (int i = 0; i < 3; ++i) {
    CHECK(sync_wait(near.writable()).has_value());
    number_pair::fill(near.native_handle());
    CHECK(timed_out(sync_wait(within(0ms, near.writable()))));
    auto room = spawn(lp, [&]() -> task<bool> { co_return (co_await near.writable()).has_value(); });
    while (!waits(near)) lp.poll();
    number_pair::drain(far.native_handle());
    lp.run_until(room);
    CHECK(sync_wait(room));
  }
}

TEST_CASE("one byte wakes all that wait for readiness, though nobody reads it") {
  constexpr int count = 20;
  std::atomic<int> ended{0};
  auto [near, far] = connected();
  {
    loop lp;
    for (int i = 0; i < count; ++i) static_cast<void>(spawn(lp, await_readable, std::ref(far), std::ref(ended)));
    while (!waits(far)) lp.poll();
    number_pair::put(near.native_handle());
    lp.run();
    CHECK(ended == count);
  }
  number_pair::drain(far.native_handle());
  runtime rt({.workers = 4});
  std::vector<join_handle<>> all;
  for (int i = 0; i < count; ++i) all.push_back(spawn(rt, await_readable, std::ref(far), std::ref(ended)));
  block_until_waits(far);
  number_pair::put(near.native_handle());
  for (auto& one : all) sync_wait(one);
  CHECK(ended == 2 * count);
}

TEST_CASE("readiness of one direction leaves the wait of the other alone") {
  loop lp;
  auto [near, far] = connected();
  number_pair::fill(near.native_handle());
  auto writes = spawn(lp, [&]() -> task<bool> { co_return (co_await near.writable()).has_value(); });
  auto reads = spawn(lp, [&]() -> task<bool> { co_return (co_await near.readable()).has_value(); });
  const detail::open_descriptor& at = detail::descriptor_access::record_of(near);
  while (at.in.waiting() == 0 || at.out.waiting() == 0) lp.poll();
  number_pair::put(far.native_handle());
  lp.run_until(reads);
  for (int i = 0; i < 20; ++i) lp.poll();
  CHECK_FALSE(writes.done());
  number_pair::drain(far.native_handle());
  lp.run_until(writes);
  CHECK(sync_wait(writes));
}

TEST_CASE("a timer of the system is waited for, and read when it has expired") {
  auto timer = stream::adopt(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)).value();
  std::uint64_t expired = 0;
  const mutable_buffer room(&expired, sizeof expired);
  CHECK(timed_out(sync_wait(within(0ms, timer.readable()))));
  itimerspec soon{};
  soon.it_value.tv_nsec = 1;
  for (int i = 0; i < 3; ++i) {
    expired = 0;
    REQUIRE(::timerfd_settime(timer.native_handle(), 0, &soon, nullptr) == 0);
    CHECK(sync_wait(timer.read_some(room)) == sizeof expired);
    CHECK(expired == 1);
  }
}

TEST_CASE("an epoll of somebody else is waited for as a descriptor") {
  const int inner = ::epoll_create1(EPOLL_CLOEXEC);
  auto outer = descriptor::adopt(inner).value();
  const number_pipe pipe;
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  REQUIRE(::epoll_ctl(inner, EPOLL_CTL_ADD, pipe.in, &wanted) == 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(timed_out(sync_wait(within(0ms, outer.readable()))));
    pipe.put();
    CHECK(sync_wait(outer.readable()).has_value());
    pipe.take();
  }
}

TEST_CASE("a number is given up and adopted again, and its waits go on") {
  auto [near, far] = connected();
  std::array<char, 4> buffer{};
  for (int i = 0; i < 3; ++i) {
    CHECK(timed_out(sync_wait(within(0ms, far.read_some(buffer)))));
    far = stream::adopt(far.release().value()).value();
    number_pair::put(near.native_handle());
    CHECK(sync_wait(far.read_some(buffer)) == std::size_t{1});
  }
}
