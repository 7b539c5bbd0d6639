// Several buffers, no buffer, and writes that were cut short: streams, for every kind that waits for I/O.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/sockets.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace hocket_test {

using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("several buffers are written and read as if they were one", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto work = [&]() -> typename Kind::body {
    const std::array<hocket::const_buffer, 4> parts{"GET ", "", "/index", " HTTP"};
    auto sent = co_await near.write_all(parts);
    CHECK(sent == std::size_t{15});
    std::array<char, 3> first{};
    std::array<char, 12> second{};
    const std::array<hocket::mutable_buffer, 2> rooms{first, second};
    auto got = co_await far.read_exactly(rooms);
    CHECK(got == std::size_t{15});
    CHECK(std::string_view(first.data(), 3) == "GET");
    CHECK(std::string_view(second.data(), 12) == " /index HTTP");
    auto nothing = co_await near.write_all(std::span<const hocket::const_buffer>());
    CHECK(nothing == std::size_t{0});
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

// More buffers than one call takes, and more bytes than there is room for.
TEST_CASE_TEMPLATE("hundreds of buffers arrive whole and in order", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  std::vector<char> bytes(300'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  std::vector<char> read(bytes.size());
  auto write = [&]() -> typename Kind::body {
    std::vector<hocket::const_buffer> parts;
    for (std::size_t at = 0, size = 0; at < bytes.size(); at += size) {
      size = std::min(1 + at % 1777, bytes.size() - at);
      parts.emplace_back(bytes.data() + at, size);
    }
    auto sent = co_await near.write_all(parts);
    CHECK(sent == bytes.size());
  };
  auto take = [&]() -> typename Kind::body {
    std::vector<hocket::mutable_buffer> rooms;
    for (std::size_t at = 0, size = 0; at < read.size(); at += size) {
      size = std::min(1 + at % 991, read.size() - at);
      rooms.emplace_back(read.data() + at, size);
    }
    auto got = co_await far.read_exactly(rooms);
    CHECK(got == read.size());
    auto none = co_await hocket::within(0ms, far.read_some(rooms));
    CHECK_FALSE(none.has_value());
  };
  const int reader = world.start(take);
  world.start(write);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
  CHECK(read == bytes);
}

TEST_CASE_TEMPLATE("bytes are lent, few and many, and nothing at the end", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  const std::string few = "few bytes", many(100'000, 'm');
  auto read = [&]() -> typename Kind::body {
    std::string all;
    for (;;) {
      auto bytes = co_await far.read_borrowed();
      REQUIRE(bytes.has_value());
      if (bytes->empty()) break;
      CHECK(bytes->size() <= 16384);
      all += bytes->text();
    }
    CHECK(all == few + many);
    auto end = co_await far.read_borrowed();
    REQUIRE(end.has_value());
    CHECK(end->data() == nullptr);
  };
  auto write = [&]() -> typename Kind::body {
    auto sent = co_await near.write_all(few);
    CHECK(sent.has_value());
    co_await hocket::yield();
    sent = co_await near.write_all(many);
    CHECK(sent.has_value());
    near.close();
  };
  const int reader = world.start(read);
  world.start(write);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("a wait for bytes to lend ends by a deadline, and what comes later is kept", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    auto late = co_await hocket::within(1ms, far.read_borrowed());
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error() == std::errc::timed_out);
    auto sent = co_await near.write_all("kept");
    CHECK(sent.has_value());
    std::string all;
    while (all.size() < 4) {
      auto some = co_await far.read_borrowed();
      REQUIRE(some.has_value());
      hocket::borrowed_bytes moved = std::move(*some);
      CHECK(some->empty());
      all += moved.text();
      moved.release();
      CHECK(moved.empty());
    }
    CHECK(all == "kept");
    far.close();
    auto closed = co_await far.read_borrowed();
    REQUIRE_FALSE(closed.has_value());
    CHECK(closed.error() == std::errc::bad_file_descriptor);
  };
  const int reader = world.start(read);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("a killed wait for bytes to lend gives the block back", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  hocket::event begun;
  auto read = [&]() -> typename Kind::body {
    begun.set();
    for (;;) {
      auto bytes = co_await far.read_borrowed();
      if (!bytes || bytes->empty()) break;
    }
  };
  const int reader = world.start(read);
  auto kill = [&]() -> typename Kind::body {
    static_cast<void>(co_await begun.wait());
    for (int i = 0; i < 20; ++i) {
      auto sent = co_await near.write_all("bytes that may be lost");
      CHECK(sent.has_value());
    }
    world.kill(reader);
  };
  world.start(kill);
  world.finish();
  CHECK(world.ended(reader) == fate::killed);
  CHECK(hocket::detail::descriptor_access::record_of(far).lent == 0);  // counted at check level debug
}

TEST_CASE_TEMPLATE("behind a write that was cut short no other is made, until the writer says so", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected(4096);
  Kind world(net);
  const std::string much(1'000'000, 'w');
  hocket::event written;
  auto write = [&]() -> typename Kind::body {
    auto late = co_await hocket::within(2ms, near.write_all(much));
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error() == std::errc::timed_out);
    const std::size_t part = near.partial_write_size();
    REQUIRE(part > 0);
    REQUIRE(part < much.size());
    auto next = co_await near.write_some("next");
    REQUIRE_FALSE(next.has_value());
    CHECK(next.error() == hocket::errc::partial_write);
    CHECK(next.error() == std::errc::io_error);
    for (int i = 0; i < 3; ++i) {  // also of those that are meant whole
      next = co_await near.write_all("again");
      REQUIRE_FALSE(next.has_value());
      CHECK(next.error() == hocket::errc::partial_write);
    }
    CHECK(near.partial_write_size() == part);
    CHECK(near.resume_after_partial_write() == part);
    written.set();
    next = co_await near.write_all(std::string_view(much).substr(part));
    CHECK(next == much.size() - part);
    near.close();
  };
  auto read = [&]() -> typename Kind::body {
    std::size_t sum = 0;
    static_cast<void>(co_await written.wait());
    for (;;) {
      auto bytes = co_await far.read_borrowed();
      REQUIRE(bytes.has_value());
      if (bytes->empty()) break;
      sum += bytes->size();
    }
    CHECK(sum == much.size());
  };
  const int writer = world.start(write);
  world.start(read);
  world.finish();
  CHECK(world.ended(writer) == fate::ended);
}

TEST_CASE_TEMPLATE("a write that waits behind one that is cut short does not go out", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected(4096);
  Kind world(net);
  const std::string much(1'000'000, 'a');
  auto first = [&]() -> typename Kind::body {
    auto late = co_await hocket::within(20ms, near.write_all(much));
    REQUIRE_FALSE(late.has_value());
  };
  auto second = [&]() -> typename Kind::body {
    std::string begun(1, ' ');
    auto got = co_await far.read_exactly(begun);  // the first write has moved a part
    REQUIRE(got == 1);
    auto behind = co_await near.write_all("b");
    REQUIRE_FALSE(behind.has_value());
    CHECK(behind.error() == hocket::errc::partial_write);
    near.close();
  };
  world.start(first);
  const int waiter = world.start(second);
  world.finish();
  CHECK(world.ended(waiter) == fate::ended);
}

// The first try of a write moves a part, and then it waits: nothing comes in between.
TEST_CASE_TEMPLATE("writes of several coroutines that are meant whole stay whole", Kind, HOCKET_IO_KINDS) {
  constexpr std::size_t size = 150'000, writers = 4, rounds = 3;
  typename Kind::wires net;
  auto [near, far] = net.connected(4096);
  Kind world(net);
  std::atomic<std::size_t> left = writers;
  auto write = [&](char letter) -> typename Kind::body {
    const std::string mine(size, letter);
    for (std::size_t i = 0; i < rounds; ++i) {
      auto put = co_await near.write_all(mine);
      CHECK(put == size);
    }
    if (--left == 0) near.close();
  };
  auto read = [&]() -> typename Kind::body {
    std::string one(size, ' ');
    for (std::size_t i = 0; i < writers * rounds; ++i) {
      auto got = co_await far.read_exactly(one);
      REQUIRE(got == size);
      REQUIRE(one.find_first_not_of(one.front()) == std::string::npos);
    }
  };
  const int reader = world.start(read);
  for (std::size_t i = 0; i < writers; ++i) world.start(write, static_cast<char>('a' + i));
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

}  // namespace hocket_test
