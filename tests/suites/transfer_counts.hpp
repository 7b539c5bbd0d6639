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

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <system_error>

namespace hocket_test {

using namespace std::chrono_literals;

enum class reading { some, some_parts, exactly, exactly_parts, counted, counted_parts, borrowed, idle, whole };
inline constexpr std::array every_reading{reading::some,          reading::some_parts, reading::exactly,
                                          reading::exactly_parts, reading::counted,    reading::counted_parts,
                                          reading::borrowed,      reading::idle,       reading::whole};

enum class writing { some, some_parts, all, all_parts, counted, counted_parts };
inline constexpr std::array every_writing{writing::some,      writing::some_parts, writing::all,
                                          writing::all_parts, writing::counted,    writing::counted_parts};

// What ends a wait from outside.
enum class wait_ending { deadline, cancel, kill, close };
inline constexpr std::array every_ending{wait_ending::deadline, wait_ending::cancel, wait_ending::kill,
                                         wait_ending::close};

template <class T>
std::error_code error_in(const hocket::result<T>& got) {
  return got ? std::error_code() : got.error();
}

inline hocket::duration limit_of(wait_ending how) { return how == wait_ending::deadline ? 1ms : 1h; }

// Ends the wait of a coroutine, as soon as it has begun.
template <class Kind>
void end_by(Kind& world, wait_ending how, int waiter, hocket::event& begun, hocket::stream& at) {
  if (how == wait_ending::deadline) return;
  world.start([&world, &begun, &at, how, waiter]() -> typename Kind::body {
    static_cast<void>(co_await begun.wait());
    static_cast<void>(co_await hocket::yield());
    if (how == wait_ending::cancel) world.cancel(waiter);
    if (how == wait_ending::kill) world.kill(waiter);
    if (how == wait_ending::close) at.close();
  });
}

TEST_CASE_TEMPLATE("a read that fails before it has moved a byte leaves the count 0", Kind, HOCKET_IO_KINDS) {
  for (const reading call : every_reading) {
    for (const wait_ending how : every_ending) {
      CAPTURE(static_cast<int>(call));
      CAPTURE(static_cast<int>(how));
      typename Kind::wires net;
      auto [near, far] = net.connected();
      Kind world(net);
      hocket::event begun;
      std::size_t moved = 77;
      bool failed = false;
      auto read = [&, &near = near, &far = far]() -> typename Kind::body {
        std::array<char, 4> first{}, second{};
        const std::array<hocket::mutable_buffer, 2> parts{first, second};
        auto sent = co_await near.write_all("abc");
        CHECK(sent.has_value());
        auto cut = co_await hocket::within(2ms, far.read_exactly(parts));
        CHECK_FALSE(cut.has_value());
        CHECK(far.partial_read_size() == 3);
        begun.set();
        const hocket::duration limit = limit_of(how);
        std::error_code error;
        if (call == reading::some) {
          auto got = co_await hocket::within(limit, far.read_some(first));
          error = error_in(got);
        }
        if (call == reading::some_parts) {
          auto got = co_await hocket::within(limit, far.read_some(parts));
          error = error_in(got);
        }
        if (call == reading::exactly) {
          auto got = co_await hocket::within(limit, far.read_exactly(first));
          error = error_in(got);
        }
        if (call == reading::exactly_parts) {
          auto got = co_await hocket::within(limit, far.read_exactly(parts));
          error = error_in(got);
        }
        if (call == reading::counted) {
          auto got = co_await hocket::within(limit, far.read_exactly(first, moved));
          error = error_in(got);
        }
        if (call == reading::counted_parts) {
          auto got = co_await hocket::within(limit, far.read_exactly(parts, moved));
          error = error_in(got);
        }
        if (call == reading::borrowed) {
          auto got = co_await hocket::within(limit, far.read_borrowed());
          error = error_in(got);
        }
        if (call == reading::idle) {
          auto got = co_await hocket::within(limit, far.read_idle());
          error = error_in(got);
        }
        if (call == reading::whole) {
          auto got = co_await hocket::within(limit, hocket::read_all(far));
          error = error_in(got);
        }
        failed = static_cast<bool>(error);
      };
      const int reader = world.start(read);
      end_by(world, how, reader, begun, far);
      world.finish();
      CHECK(failed == (how != wait_ending::kill));
      CHECK(far.partial_read_size() == 0);
      if (call == reading::counted || call == reading::counted_parts) CHECK(moved == 0);
    }
  }
}

TEST_CASE_TEMPLATE("a read that fails in its middle leaves the count of its bytes", Kind, HOCKET_IO_KINDS) {
  for (const wait_ending how : every_ending) {
    for (const bool in_parts : {false, true}) {
      CAPTURE(static_cast<int>(how));
      CAPTURE(in_parts);
      typename Kind::wires net;
      auto [near, far] = net.connected();
      Kind world(net);
      hocket::event begun;
      std::size_t moved = 77;
      auto read = [&, &far = far]() -> typename Kind::body {
        std::array<char, 4> first{}, second{};
        const std::array<hocket::mutable_buffer, 2> parts{first, second};
        std::array<char, 8> whole{};
        const hocket::duration limit = how == wait_ending::deadline ? hocket::duration(20ms) : hocket::duration(1h);
        if (in_parts) {
          auto late = co_await hocket::within(limit, far.read_exactly(parts, moved));
          static_cast<void>(late);
        } else {
          auto late = co_await hocket::within(limit, far.read_exactly(whole, moved));
          static_cast<void>(late);
        }
      };
      auto write = [&, &near = near]() -> typename Kind::body {
        auto sent = co_await near.write_all("abcde");
        CHECK(sent.has_value());
        begun.set();
      };
      const int reader = world.start(read);
      world.start(write);
      end_by(world, how, reader, begun, far);
      world.finish();
      CHECK(far.partial_read_size() == moved);
      CHECK(moved <= 5);
      // The others have arrived, and are there.
      if (how != wait_ending::close) {
        std::string rest;
        auto again = [&, &far = far]() -> typename Kind::body {
          std::array<char, 8> room{};
          while (moved + rest.size() < 5) {
            auto got = co_await far.read_some(room);
            REQUIRE(got.has_value());
            rest.append(room.data(), *got);
          }
        };
        world.start(again);
        world.finish();
        CHECK(rest == std::string_view("abcde").substr(moved));
      }
    }
  }
}

TEST_CASE_TEMPLATE("a write that fails before it has moved a byte leaves the count 0", Kind, HOCKET_IO_KINDS) {
  for (const writing call : every_writing) {
    for (const wait_ending how : every_ending) {
      CAPTURE(static_cast<int>(call));
      CAPTURE(static_cast<int>(how));
      typename Kind::wires net;
      auto [near, far] = net.connected(4096);
      Kind world(net);
      hocket::event begun;
      const std::string much(1'000'000, 'w');
      std::size_t moved = 77;
      bool failed = false;
      auto write = [&, &near = near]() -> typename Kind::body {
        const std::array<hocket::const_buffer, 2> parts{"the next ", "message"};
        auto cut = co_await hocket::within(2ms, near.write_all(much));
        CHECK_FALSE(cut.has_value());
        CHECK(near.resume_after_partial_write() > 0);
        for (bool fits = true; fits;) {
          auto more = co_await hocket::within(1ms, near.write_some(much));
          fits = more.has_value();
        }
        begun.set();
        const hocket::duration limit = limit_of(how);
        std::error_code error;
        if (call == writing::some) {
          auto got = co_await hocket::within(limit, near.write_some("next"));
          error = error_in(got);
        }
        if (call == writing::some_parts) {
          auto got = co_await hocket::within(limit, near.write_some(parts));
          error = error_in(got);
        }
        if (call == writing::all) {
          auto got = co_await hocket::within(limit, near.write_all("next"));
          error = error_in(got);
        }
        if (call == writing::all_parts) {
          auto got = co_await hocket::within(limit, near.write_all(parts));
          error = error_in(got);
        }
        if (call == writing::counted) {
          auto got = co_await hocket::within(limit, near.write_all("next", moved));
          error = error_in(got);
        }
        if (call == writing::counted_parts) {
          auto got = co_await hocket::within(limit, near.write_all(parts, moved));
          error = error_in(got);
        }
        failed = static_cast<bool>(error);
      };
      const int writer = world.start(write);
      end_by(world, how, writer, begun, near);
      world.finish();
      CHECK(failed == (how != wait_ending::kill));
      CHECK(near.partial_write_size() == 0);
      CHECK(near.resume_after_partial_write() == 0);
      if (call == writing::counted || call == writing::counted_parts) CHECK(moved == 0);
    }
  }
}

// The second write ends while it waits in the line, behind the first, which is half done.
TEST_CASE_TEMPLATE("a write that ends behind another leaves that one's partial write as it is", Kind, HOCKET_IO_KINDS) {
  for (const wait_ending how : {wait_ending::deadline, wait_ending::cancel, wait_ending::kill}) {
    CAPTURE(static_cast<int>(how));
    typename Kind::wires net;
    auto [near, far] = net.connected(4096);
    Kind world(net);
    hocket::event begun;
    const std::string much(1'000'000, 'w');
    std::size_t first_moved = 0, second_moved = 77;
    auto first = [&, &near = near]() -> typename Kind::body {
      auto cut = co_await near.write_all(much, first_moved);
      CHECK_FALSE(cut.has_value());
    };
    auto second = [&, &near = near]() -> typename Kind::body {
      begun.set();
      auto late = co_await hocket::within(how == wait_ending::deadline ? hocket::duration(2ms) : hocket::duration(1h),
                                          near.write_all("behind", second_moved));
      CHECK_FALSE(late.has_value());
    };
    const int writer = world.start(first);
    const int next = world.start(second);
    end_by(world, how, next, begun, near);
    world.wait_for(next);
    CHECK(near.partial_write_size() == 0);
    CHECK(second_moved == 0);
    world.cancel(writer);
    world.finish();
    CHECK(first_moved > 0);
    CHECK(near.partial_write_size() == first_moved);
    CHECK(near.resume_after_partial_write() == first_moved);
  }
}

}  // namespace hocket_test
