// The counts that failed transfers leave (io/stream.hpp): every call that moves bytes, by everything that ends it, for
// every kind that waits for I/O.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/sockets.hpp"
#include "support/waits.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>

namespace hocket_test {

using namespace std::chrono_literals;

// What ends a wait from outside.
enum class wait_ending { deadline, cancel, kill, close };
inline constexpr std::array every_ending{wait_ending::deadline, wait_ending::cancel, wait_ending::kill,
                                         wait_ending::close};

inline hocket::duration limit_of(wait_ending ending) { return ending == wait_ending::deadline ? 1ms : 1h; }

// Ends the wait of a coroutine, as soon as it has begun.
template <class Kind>
void end_by(Kind& world, wait_ending ending, int waiter, hocket::event& begun, hocket::stream& at) {
  if (ending == wait_ending::deadline) return;
  world.start([&world, &begun, &at, ending, waiter]() -> typename Kind::body {
    static_cast<void>(co_await begun.wait());
    static_cast<void>(co_await hocket::yield());
    if (ending == wait_ending::cancel) world.cancel(waiter);
    if (ending == wait_ending::kill) world.kill(waiter);
    if (ending == wait_ending::close) at.close();
  });
}

// Where a read puts its bytes.
struct rooms {
  std::array<char, 4> first{}, second{};
  std::array<hocket::mutable_buffer, 2> both{first, second};
  std::size_t moved = 77;
  bool is_counted = false;
  std::size_t& counted() {
    is_counted = true;
    return moved;
  }
};

// After a read that has moved three bytes.
template <class Kind, class Read>
void end_read_without_bytes(wait_ending ending, Read read_call) {
  CAPTURE(static_cast<int>(ending));
  typename Kind::wires net;
  stream_pair wires = net.connected();
  Kind world(net);
  hocket::event begun;
  rooms into;
  bool failed = false;
  auto read = [&]() -> typename Kind::body {
    auto sent = co_await wires.near.write_all("abc");
    CHECK(sent.has_value());
    auto cut = co_await hocket::within(2ms, wires.far.read_exactly(into.both));
    CHECK_FALSE(cut.has_value());
    CHECK(wires.far.partial_read_size() == 3);
    begun.set();
    auto returned = co_await hocket::within(limit_of(ending), read_call(wires.far, into));
    failed = !returned.has_value();
  };
  const int reader = world.start(read);
  end_by(world, ending, reader, begun, wires.far);
  world.finish();
  CHECK(failed == (ending != wait_ending::kill));
  CHECK(wires.far.partial_read_size() == 0);
  CHECK((!into.is_counted || into.moved == 0));
}

TEST_CASE_TEMPLATE("a read that fails before it has moved a byte leaves the count 0", Kind, HOCKET_IO_KINDS) {
  for (const wait_ending ending : every_ending) {
    end_read_without_bytes<Kind>(ending, [](auto& far, rooms& into) { return far.read_some(into.first); });
    end_read_without_bytes<Kind>(ending, [](auto& far, rooms& into) { return far.read_some(into.both); });
    end_read_without_bytes<Kind>(ending, [](auto& far, rooms& into) { return far.read_exactly(into.first); });
    end_read_without_bytes<Kind>(ending, [](auto& far, rooms& into) { return far.read_exactly(into.both); });
    end_read_without_bytes<Kind>(ending,
                                 [](auto& far, rooms& into) { return far.read_exactly(into.first, into.counted()); });
    end_read_without_bytes<Kind>(ending,
                                 [](auto& far, rooms& into) { return far.read_exactly(into.both, into.counted()); });
    end_read_without_bytes<Kind>(ending, [](auto& far, rooms&) { return far.read_borrowed(); });
    end_read_without_bytes<Kind>(ending, [](auto& far, rooms&) { return far.read_idle(); });
    end_read_without_bytes<Kind>(ending, [](auto& far, rooms&) { return hocket::read_all(far); });
  }
}

TEST_CASE_TEMPLATE("a read that fails in its middle leaves the count of its bytes", Kind, HOCKET_IO_KINDS) {
  for (const wait_ending ending : every_ending) {
    for (const bool in_parts : {false, true}) {
      CAPTURE(static_cast<int>(ending));
      CAPTURE(in_parts);
      typename Kind::wires net;
      stream_pair wires = net.connected();
      Kind world(net);
      hocket::event begun;
      std::size_t moved = 0;
      auto read = [&]() -> typename Kind::body {
        std::array<char, 4> first{}, second{};
        const std::array<hocket::mutable_buffer, 2> parts{first, second};
        std::array<char, 8> whole{};
        const hocket::duration limit = ending == wait_ending::deadline ? hocket::duration(20ms) : hocket::duration(1h);
        if (in_parts) {
          auto late = co_await hocket::within(limit, wires.far.read_exactly(parts, moved));
          static_cast<void>(late);
        } else {
          auto late = co_await hocket::within(limit, wires.far.read_exactly(whole, moved));
          static_cast<void>(late);
        }
      };
      auto write = [&]() -> typename Kind::body {
        auto sent = co_await wires.near.write_all("abcde");
        CHECK(sent.has_value());
        begun.set();
      };
      const int reader = world.start(read);
      world.start(write);
      end_by(world, ending, reader, begun, wires.far);
      world.finish();
      CHECK(wires.far.partial_read_size() == moved);
      CHECK(moved <= 5);
      // The others have arrived, and are there.
      if (ending != wait_ending::close) {
        std::string rest;
        auto again = [&]() -> typename Kind::body {
          std::array<char, 8> room{};
          while (moved + rest.size() < 5) {
            auto returned = co_await wires.far.read_some(room);
            REQUIRE(returned.has_value());
            rest.append(room.data(), *returned);
          }
        };
        world.start(again);
        world.finish();
        CHECK(rest == std::string_view("abcde").substr(moved));
      }
    }
  }
}

// What a write takes its bytes from.
struct pieces {
  std::array<hocket::const_buffer, 2> both{"the next ", "message"};
  std::size_t moved = 77;
  bool is_counted = false;
  std::size_t& counted() {
    is_counted = true;
    return moved;
  }
};

// After a partial write, into a stream that is full.
template <class Kind, class Write>
void end_write_without_bytes(wait_ending ending, Write write_call) {
  CAPTURE(static_cast<int>(ending));
  typename Kind::wires net;
  stream_pair wires = net.connected(4096);
  Kind world(net);
  hocket::event begun;
  const std::string much(1'000'000, 'w');
  pieces from;
  bool failed = false;
  auto write = [&]() -> typename Kind::body {
    auto cut = co_await hocket::within(2ms, wires.near.write_all(much));
    CHECK_FALSE(cut.has_value());
    CHECK(wires.near.resume_after_partial_write() > 0);
    for (bool fits = true; fits;) {
      auto more = co_await hocket::within(1ms, wires.near.write_some(much));
      fits = more.has_value();
    }
    begun.set();
    auto returned = co_await hocket::within(limit_of(ending), write_call(wires.near, from));
    failed = !returned.has_value();
  };
  const int writer = world.start(write);
  end_by(world, ending, writer, begun, wires.near);
  world.finish();
  CHECK(failed == (ending != wait_ending::kill));
  CHECK(wires.near.partial_write_size() == 0);
  CHECK(wires.near.resume_after_partial_write() == 0);
  CHECK((!from.is_counted || from.moved == 0));
}

TEST_CASE_TEMPLATE("a write that fails before it has moved a byte leaves the count 0", Kind, HOCKET_IO_KINDS) {
  for (const wait_ending ending : every_ending) {
    end_write_without_bytes<Kind>(ending, [](auto& near, pieces&) { return near.write_some("next"); });
    end_write_without_bytes<Kind>(ending, [](auto& near, pieces& from) { return near.write_some(from.both); });
    end_write_without_bytes<Kind>(ending, [](auto& near, pieces&) { return near.write_all("next"); });
    end_write_without_bytes<Kind>(ending, [](auto& near, pieces& from) { return near.write_all(from.both); });
    end_write_without_bytes<Kind>(ending,
                                  [](auto& near, pieces& from) { return near.write_all("next", from.counted()); });
    end_write_without_bytes<Kind>(ending,
                                  [](auto& near, pieces& from) { return near.write_all(from.both, from.counted()); });
  }
}

// The second write ends while it waits in the line, behind the first, which is half done.
TEST_CASE_TEMPLATE("a write that ends behind another leaves that one's partial write as it is", Kind, HOCKET_IO_KINDS) {
  for (const wait_ending ending : {wait_ending::deadline, wait_ending::cancel, wait_ending::kill}) {
    CAPTURE(static_cast<int>(ending));
    typename Kind::wires net;
    stream_pair wires = net.connected(4096);
    Kind world(net);
    hocket::event begun;
    const std::string much(1'000'000, 'w');
    std::size_t first_moved = 0, second_moved = 77;
    auto first = [&]() -> typename Kind::body {
      auto cut = co_await wires.near.write_all(much, first_moved);
      CHECK_FALSE(cut.has_value());
    };
    auto second = [&]() -> typename Kind::body {
      auto arrived = co_await wires.far.readable();  // the first write is in its middle
      CHECK(arrived.has_value());
      begun.set();
      auto late =
          co_await hocket::within(ending == wait_ending::deadline ? hocket::duration(2ms) : hocket::duration(1h),
                                  wires.near.write_all("behind", second_moved));
      CHECK_FALSE(late.has_value());
    };
    const int writer = world.start(first);
    const int next = world.start(second);
    end_by(world, ending, next, begun, wires.near);
    world.wait_for(next);
    CHECK(wires.near.partial_write_size() == 0);
    CHECK(second_moved == 0);
    world.cancel(writer);
    world.finish();
    CHECK(first_moved > 0);
    CHECK(wires.near.partial_write_size() == first_moved);
    CHECK(wires.near.resume_after_partial_write() == first_moved);
  }
}

}  // namespace hocket_test
