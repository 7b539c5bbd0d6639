// poll_fds(), for every kind that waits for I/O.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/numbers.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <vector>

namespace hocket_test {

using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("what is ready is told at once, and nothing else", Kind, HOCKET_IO_KINDS) {
  number_pipe ready, silent;
  ready.put();
  Kind world;
  auto look = [&]() -> typename Kind::body {
    std::array<pollfd, 4> wanted{pollfd{ready.in, POLLIN, 0}, pollfd{silent.in, POLLIN, 7}, pollfd{-1, POLLIN, 7},
                                 pollfd{silent.out, POLLOUT, 0}};
    auto found = co_await hocket::poll_fds(wanted);
    CHECK(found == std::size_t{2});
    CHECK(wanted[0].revents == POLLIN);
    CHECK(wanted[1].revents == 0);
    CHECK(wanted[2].revents == 0);
    CHECK(wanted[3].revents == POLLOUT);
  };
  const int looker = world.start(look);
  world.finish();
  CHECK(world.ended(looker) == fate::ended);
}

TEST_CASE_TEMPLATE("one of a hundred numbers becomes ready later, again and again", Kind, HOCKET_IO_KINDS) {
  std::vector<number_pipe> pipes(100);
  Kind world;
  hocket::event taken;
  auto wait = [&]() -> typename Kind::body {
    std::vector<pollfd> wanted;
    for (const number_pipe& one : pipes) wanted.push_back({one.in, POLLIN, 0});
    for (std::size_t i = 0; i < 300; ++i) {
      auto found = co_await hocket::poll_fds(wanted);
      REQUIRE(found == std::size_t{1});
      REQUIRE(wanted[i * 37 % 100].revents == POLLIN);
      pipes[i * 37 % 100].take();
      taken.set();
    }
  };
  auto write = [&]() -> typename Kind::body {
    for (std::size_t i = 0; i < 300; ++i) {
      pipes[i * 37 % 100].put();
      static_cast<void>(co_await taken.wait());
      taken.reset();
    }
  };
  const int waiter = world.start(wait);
  world.start(write);
  world.finish();
  CHECK(world.ended(waiter) == fate::ended);
}

TEST_CASE_TEMPLATE("several wait for one number, each for what it asked", Kind, HOCKET_IO_KINDS) {
  number_pair ends;
  ends.fill(ends.near);
  Kind world;
  std::atomic<int> readers{0};
  auto read = [&]() -> typename Kind::body {
    pollfd wanted{ends.near, POLLIN, 0};
    auto found = co_await hocket::poll_fds({&wanted, 1});
    CHECK(found == std::size_t{1});
    CHECK((wanted.revents & POLLIN) != 0);
    ++readers;
  };
  auto write = [&]() -> typename Kind::body {
    pollfd wanted{ends.near, POLLOUT, 0};
    auto found = co_await hocket::poll_fds({&wanted, 1});
    CHECK(found == std::size_t{1});
    CHECK((wanted.revents & POLLOUT) != 0);
    CHECK(readers == 0);
    number_pair::put(ends.far);
  };
  for (int i = 0; i < 3; ++i) world.start(read);
  const int writer = world.start(write);
  auto drain = [&]() -> typename Kind::body {
    for (int i = 0; i < 20; ++i) co_await hocket::yield();
    number_pair::drain(ends.far);
  };
  world.start(drain);
  world.finish();
  CHECK(world.ended(writer) == fate::ended);
  CHECK(readers == 3);
}

TEST_CASE_TEMPLATE("a number of a descriptor is waited for both ways", Kind, HOCKET_IO_KINDS) {
  number_pair ends;
  Kind world;
  auto one = hocket::stream::adopt(::dup(ends.near)).value();
  auto work = [&]() -> typename Kind::body {
    std::array<char, 8> room{};
    for (int i = 0; i < 50; ++i) {
      auto none = co_await hocket::within(0ms, one.read_some(room));
      CHECK_FALSE(none.has_value());
      pollfd wanted{one.native_handle(), POLLIN, 0};
      auto late = co_await hocket::within(0ms, hocket::poll_fds({&wanted, 1}));
      CHECK_FALSE(late.has_value());
      number_pair::put(ends.far);
      auto found = co_await hocket::poll_fds({&wanted, 1});
      CHECK(found == std::size_t{1});
      auto got = co_await one.read_some(room);
      CHECK(got == std::size_t{1});
    }
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

TEST_CASE_TEMPLATE("a wait for numbers ends by a deadline, a cancel, a kill and in a select", Kind, HOCKET_IO_KINDS) {
  number_pipe silent;
  Kind world;
  hocket::event selects, chosen, begun;
  auto wait = [&]() -> typename Kind::body {
    pollfd wanted{silent.in, POLLIN, 0};
    for (int i = 0; i < 20; ++i) {
      auto late = co_await hocket::within(1us, hocket::poll_fds({&wanted, 1}));
      REQUIRE_FALSE(late.has_value());
      CHECK(late.error() == std::errc::timed_out);
    }
    auto nothing = co_await hocket::within(1ms, hocket::poll_fds({}));
    REQUIRE_FALSE(nothing.has_value());
    CHECK(nothing.error() == std::errc::timed_out);
    selects.set();
    auto first = co_await hocket::select(hocket::poll_fds({&wanted, 1}), chosen.wait());
    CHECK(first->index() == 1);
    begun.set();
    auto got = co_await hocket::poll_fds({&wanted, 1});
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error() == std::errc::operation_canceled);
    got = co_await hocket::poll_fds({&wanted, 1});
    CHECK_FALSE(got.has_value());
  };
  auto wait_for_ever = [&]() -> typename Kind::body {
    pollfd wanted{silent.in, POLLIN, 0};
    static_cast<void>(co_await hocket::poll_fds({&wanted, 1}));
    FAIL_CHECK("a killed wait returned");
  };
  const int waiter = world.start(wait);
  const int victim = world.start(wait_for_ever);
  auto end = [&]() -> typename Kind::body {
    static_cast<void>(co_await selects.wait());
    chosen.set();
    static_cast<void>(co_await begun.wait());
    world.cancel(waiter);
    world.kill(victim);
  };
  world.start(end);
  world.finish();
  CHECK(world.ended(waiter) == fate::ended);
  CHECK(world.ended(victim) == fate::killed);
}

TEST_CASE_TEMPLATE("who closes a number ends its waits before, and the next file of that number is told", Kind,
                   HOCKET_IO_KINDS) {
  number_pipe pipe, next;
  Kind world;
  std::atomic<bool> ended = false;
  auto wait = [&]() -> typename Kind::body {
    pollfd wanted{pipe.in, POLLIN, 0};
    auto got = co_await hocket::poll_fds({&wanted, 1});
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error() == std::errc::operation_canceled);
    ended = true;
    ::close(wanted.fd);
    got = co_await hocket::poll_fds({&wanted, 1});
    CHECK(got == std::size_t{1});
    CHECK(wanted.revents == POLLNVAL);
    REQUIRE(::dup3(next.in, wanted.fd, O_CLOEXEC) == wanted.fd);
    auto late = co_await hocket::within(0ms, hocket::poll_fds({&wanted, 1}));
    CHECK_FALSE(late.has_value());
    next.put();
    got = co_await hocket::poll_fds({&wanted, 1});
    CHECK(got == std::size_t{1});
    CHECK(wanted.revents == POLLIN);
  };
  const int waiter = world.start(wait);
  auto close = [&]() -> typename Kind::body {
    while (!ended) {
      hocket::stop_polling(pipe.in);
      co_await hocket::yield();
    }
  };
  world.start(close);
  world.finish();
  CHECK(world.ended(waiter) == fate::ended);
}

}  // namespace hocket_test
