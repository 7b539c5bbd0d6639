// Streams over the system's descriptors, for every kind that waits for I/O.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/sockets.hpp"

#include <array>
#include <doctest/doctest.h>
#include <numeric>
#include <string>
#include <string_view>

namespace hocket_test {

using namespace std::chrono_literals;

inline std::string_view text(const std::array<char, 64>& of, std::size_t size) { return {of.data(), size}; }

TEST_CASE_TEMPLATE("a reader gets what is written, and then the end of the stream", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    std::array<char, 64> buffer;
    std::string all;
    for (;;) {
      auto got = co_await far.read_some(buffer);
      REQUIRE(got.has_value());
      if (*got == 0) break;
      all += text(buffer, *got);
    }
    CHECK(all == "one two");
    auto again = co_await far.read_some(buffer);
    CHECK(again == std::size_t{0});
  };
  auto write = [&]() -> typename Kind::body {
    auto first = co_await near.write_all("one ");
    CHECK(first == std::size_t{4});
    co_await hocket::yield();
    auto second = co_await near.write_some("two");
    CHECK(second == std::size_t{3});
    near.close();
  };
  const int reader = world.start(read);
  world.start(write);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("read_exactly waits for all of its bytes, and tells of an end in the middle", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    std::array<char, 64> buffer;
    auto five = co_await far.read_exactly(std::span(buffer).first(5));
    REQUIRE(five == std::size_t{5});
    CHECK(text(buffer, 5) == "abcde");
    auto cut = co_await far.read_exactly(std::span(buffer).first(5));
    REQUIRE_FALSE(cut.has_value());
    CHECK(cut.error() == hocket::errc::end_of_stream);
  };
  auto write = [&]() -> typename Kind::body {
    for (char letter = 'a'; letter != 'h'; ++letter) {
      auto one = co_await near.write_all(std::span(&letter, 1));
      CHECK(one.has_value());
      co_await hocket::yield();
    }
    near.close();
  };
  const int reader = world.start(read);
  world.start(write);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

// More than the system takes at once, and more than a driver moves in a turn.
TEST_CASE_TEMPLATE("a large write arrives whole and in order, however little room there is", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected(4096);
  std::vector<unsigned char> sent(3'000'000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<unsigned char>(i * 2654435761u >> 24);
  std::vector<unsigned char> received;
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    std::vector<unsigned char> buffer(70'000);
    for (;;) {
      auto got = co_await far.read_some(buffer);
      REQUIRE(got.has_value());
      if (*got == 0) break;
      received.insert(received.end(), buffer.data(), buffer.data() + *got);
    }
  };
  auto write = [&]() -> typename Kind::body {
    auto all = co_await near.write_all(sent);
    CHECK(all == sent.size());
    near.close();
  };
  world.start(read);
  world.start(write);
  world.finish();
  CHECK(received == sent);
}

TEST_CASE_TEMPLATE("a read that times out takes nothing, and the next one gets the bytes", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    std::array<char, 64> buffer;
    auto late = co_await hocket::within(1ms, far.read_some(buffer));
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error() == std::errc::timed_out);
    auto sent = co_await near.write_all("late");
    CHECK(sent.has_value());
    auto got = co_await hocket::within(1h, far.read_some(buffer));
    REQUIRE(got == std::size_t{4});
    CHECK(text(buffer, 4) == "late");
  };
  const int reader = world.start(read);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("a cancelled read ends with operation_canceled", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  hocket::event begun;
  auto read = [&]() -> typename Kind::body {
    std::array<char, 64> buffer;
    begun.set();
    auto got = co_await far.read_some(buffer);
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error() == std::errc::operation_canceled);
  };
  const int reader = world.start(read);
  auto cancel = [&]() -> typename Kind::body {
    static_cast<void>(co_await begun.wait());
    world.cancel(reader);
  };
  world.start(cancel);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("closing a stream ends the waits of both directions, and later operations", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected(4096);
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    std::array<char, 64> buffer;
    auto got = co_await near.read_some(buffer);
    REQUIRE_FALSE(got.has_value());
    CHECK((got.error() == std::errc::operation_canceled || got.error() == std::errc::bad_file_descriptor));
  };
  auto write = [&]() -> typename Kind::body {
    std::vector<char> much(10'000'000);
    auto got = co_await near.write_all(much);
    REQUIRE_FALSE(got.has_value());
    CHECK((got.error() == std::errc::operation_canceled || got.error() == std::errc::bad_file_descriptor));
  };
  auto close = [&]() -> typename Kind::body {
    for (int i = 0; i < 10; ++i) co_await hocket::yield();
    near.close();
    near.close();
    CHECK(near.native_handle() == -1);
    std::array<char, 64> buffer;
    auto got = co_await near.read_some(buffer);
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error() == std::errc::bad_file_descriptor);
    auto ready = co_await near.readable();
    REQUIRE_FALSE(ready.has_value());
    CHECK(ready.error() == std::errc::bad_file_descriptor);
  };
  world.start(read);
  world.start(write);
  world.start(close);
  world.finish();
}

TEST_CASE_TEMPLATE("readers of one stream are served one after the other", Kind, HOCKET_IO_KINDS) {
  constexpr int readers = 20;
  typename Kind::wires net;
  auto [near, far] = net.connected();
  std::array<std::atomic<int>, 128> seen{};
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    char one = 0;
    auto got = co_await far.read_exactly(std::span(&one, 1));
    REQUIRE(got == std::size_t{1});
    ++seen[static_cast<std::size_t>(one)];
  };
  auto write = [&]() -> typename Kind::body {
    for (int i = 0; i < readers; ++i) {
      const auto letter = static_cast<char>('A' + i);
      auto sent = co_await near.write_all(std::span(&letter, 1));
      CHECK(sent.has_value());
      if (i % 3 == 0) co_await hocket::yield();
    }
  };
  for (int i = 0; i < readers; ++i) world.start(read);
  world.start(write);
  world.finish();
  for (int i = 0; i < readers; ++i) CHECK(seen[static_cast<std::size_t>('A' + i)] == 1);
}

TEST_CASE_TEMPLATE("of readers in line one may be cancelled, and the others go on", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  std::atomic<int> begun{0}, got_one{0}, cancelled{0};
  auto read = [&]() -> typename Kind::body {
    char one = 0;
    ++begun;
    auto got = co_await far.read_some(std::span(&one, 1));
    ++(got ? got_one : cancelled);
  };
  std::vector<int> all;
  for (int i = 0; i < 4; ++i) all.push_back(world.start(read));
  auto direct = [&]() -> typename Kind::body {
    while (begun != 4) co_await hocket::yield();
    world.cancel(all[0]);
    world.cancel(all[2]);
    while (cancelled != 2) co_await hocket::yield();
    auto sent = co_await near.write_all("xy");
    CHECK(sent.has_value());
  };
  world.start(direct);
  world.finish();
  CHECK(got_one == 2);
}

TEST_CASE_TEMPLATE("a select waits for readiness, and what it does not take stays", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  hocket::event never;
  Kind world(net);
  auto choose = [&]() -> typename Kind::body {
    auto first = co_await hocket::select(far.readable(), never.wait());
    REQUIRE(first.has_value());
    CHECK(first->index() == 0);
    never.set();
    auto second = co_await hocket::select(never.wait(), far.readable());
    REQUIRE(second.has_value());
    std::array<char, 64> buffer;
    auto got = co_await far.read_some(buffer);
    CHECK(got == std::size_t{1});
  };
  auto write = [&]() -> typename Kind::body {
    co_await hocket::yield();
    auto sent = co_await near.write_all("x");
    CHECK(sent.has_value());
  };
  const int chooser = world.start(choose);
  world.start(write);
  world.finish();
  CHECK(world.ended(chooser) == fate::ended);
}

TEST_CASE_TEMPLATE("the end of the peer is told beside bytes that are not read", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto wait = [&]() -> typename Kind::body {
    auto late = co_await hocket::within(1ms, far.closed());
    CHECK(late.error_or({}) == std::errc::timed_out);
    auto sent = co_await near.write_all("rest");
    CHECK(sent.has_value());
    late = co_await hocket::within(1ms, far.closed());
    CHECK(late.error_or({}) == std::errc::timed_out);
    near.close();
    auto gone = co_await far.closed();
    CHECK(gone.has_value());
    std::array<char, 64> buffer;
    auto got = co_await far.read_some(buffer);
    CHECK(got == std::size_t{4});
    got = co_await far.read_some(buffer);
    CHECK(got == std::size_t{0});
  };
  const int waiter = world.start(wait);
  world.finish();
  CHECK(world.ended(waiter) == fate::ended);
}

TEST_CASE_TEMPLATE("a write whose reader is gone is an error, and no signal", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  Kind world(net);
  auto write = [&]() -> typename Kind::body {
    for (bool pipe : {false, true}) {
      auto [near, far] = pipe ? net.piped() : net.connected();
      far.close();
      auto sent = co_await near.write_all("nobody");
      REQUIRE_FALSE(sent.has_value());
      CHECK(sent.error() == std::errc::broken_pipe);
    }
  };
  const int writer = world.start(write);
  world.finish();
  CHECK(world.ended(writer) == fate::ended);
}

// The number of a stream that was closed is that of the next one, at the same driver.
TEST_CASE_TEMPLATE("no event of a closed stream reaches the next one with its number (fault 40)", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  Kind world(net);
  auto work = [&]() -> typename Kind::body {
    for (int i = 0; i < 200; ++i) {
      auto [near, far] = net.connected();
      std::array<char, 64> buffer;
      auto late = co_await hocket::within(0ms, far.read_some(buffer));
      CHECK_FALSE(late.has_value());
      auto sent = co_await near.write_all("x");
      CHECK(sent.has_value());
      if (i % 2 == 0) co_await hocket::yield();
    }
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

}  // namespace hocket_test
