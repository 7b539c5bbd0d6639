// read_all, for every kind that waits for I/O.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/sockets.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>

namespace hocket_test {

using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("read_all gives all that comes until the end of a stream", Kind, HOCKET_IO_KINDS) {
  for (const std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 300'000u}) {
    typename Kind::wires net;
    auto [near, far] = net.connected();
    std::string sent(size, 'x');
    for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<char>('a' + i % 23);
    Kind world(net);
    auto read = [&]() -> typename Kind::body {
      auto all = co_await hocket::read_all(far);
      REQUIRE(all.has_value());
      CHECK(*all == sent);
      auto again = co_await hocket::read_all(far);
      CHECK(again == "");
    };
    auto write = [&]() -> typename Kind::body {
      auto half = co_await near.write_all(std::string_view(sent).substr(0, size / 2));
      CHECK(half == size / 2);
      co_await hocket::yield();
      auto rest = co_await near.write_all(std::string_view(sent).substr(size / 2));
      CHECK(rest == size - size / 2);
      near.close();
    };
    const int reader = world.start(read);
    world.start(write);
    world.finish();
    CHECK(world.ended(reader) == fate::ended);
  }
}

TEST_CASE_TEMPLATE("read_all gives as much as its limit, and fails beyond it without an end", Kind, HOCKET_IO_KINDS) {
  for (const std::size_t limit : {0u, 1u, 60u}) {
    typename Kind::wires net;
    auto [near, far] = net.connected();
    auto [other, longer] = net.connected();
    Kind world(net);
    auto work = [&]() -> typename Kind::body {
      const std::string just(limit, 'j');
      auto sent = co_await near.write_all(just);
      CHECK(sent == limit);
      near.close();
      auto all = co_await hocket::read_all(far, limit);
      CHECK(all == just);
      sent = co_await other.write_all(std::string(limit + 1, 'l'));
      CHECK(sent == limit + 1);
      all = co_await hocket::read_all(longer, limit);
      CHECK(all.error_or({}) == std::errc::message_size);
    };
    const int worker = world.start(work);
    world.finish();
    CHECK(world.ended(worker) == fate::ended);
  }
}

TEST_CASE_TEMPLATE("read_all is timed out, cancelled and killed, and the stream can be read on", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  auto [other, killed_at] = net.connected();
  Kind world(net);
  hocket::event timed_out, cancelled;
  auto late = [&]() -> typename Kind::body {
    auto begun = co_await near.write_all("lost");
    CHECK(begun.has_value());
    auto all = co_await hocket::within(1ms, hocket::read_all(far));
    CHECK(all.error_or({}) == std::errc::timed_out);
    timed_out.set();
    all = co_await hocket::read_all(far);
    CHECK(all.error_or({}) == std::errc::operation_canceled);
    cancelled.set();
  };
  auto unwinds = [&]() -> typename Kind::body {
    auto begun = co_await other.write_all("lost");
    CHECK(begun.has_value());
    auto all = co_await hocket::read_all(killed_at);
    CHECK_MESSAGE(false, "the coroutine went on after its kill");
  };
  const int reader = world.start(late);
  const int unwound = world.start(unwinds);
  auto direct = [&]() -> typename Kind::body {
    auto gone = co_await timed_out.wait();
    CHECK(gone.has_value());
    world.cancel(reader);
    world.kill(unwound);
    auto set = co_await cancelled.wait();
    CHECK(set.has_value());
    auto sent = co_await near.write_all("read on");
    CHECK(sent.has_value());
    near.close();
    auto rest = co_await hocket::read_all(far);
    CHECK(rest == "read on");
  };
  const int director = world.start(direct);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
  CHECK(world.ended(unwound) == fate::killed);
  CHECK(world.ended(director) == fate::ended);
}

TEST_CASE_TEMPLATE("read_all into a string keeps what it has read at a deadline and a cancel, and goes on behind it",
                   Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  hocket::event timed_out, cancelled;
  std::string text = "before: ";
  auto late = [&]() -> typename Kind::body {
    auto sent = co_await near.write_all("one ");
    CHECK(sent.has_value());
    for (int i = 0; i != 1000 && text != "before: one "; ++i) {
      auto all = co_await hocket::within(1ms, hocket::read_all(far, text));
      CHECK(all.error_or({}) == std::errc::timed_out);
    }
    CHECK(text == "before: one ");
    sent = co_await near.write_all("two ");
    CHECK(sent.has_value());
    timed_out.set();
    auto all = co_await hocket::read_all(far, text);
    CHECK(all.error_or({}) == std::errc::operation_canceled);
    cancelled.set();
  };
  const int reader = world.start(late);
  auto direct = [&]() -> typename Kind::body {
    auto set = co_await timed_out.wait();
    CHECK(set.has_value());
    world.cancel(reader);
    set = co_await cancelled.wait();
    CHECK(set.has_value());
    auto sent = co_await near.write_all("three");
    CHECK(sent.has_value());
    near.close();
    auto rest = co_await hocket::read_all(far, text);
    CHECK(rest.has_value());
    CHECK(text == "before: one two three");
  };
  const int director = world.start(direct);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
  CHECK(world.ended(director) == fate::ended);
}

TEST_CASE_TEMPLATE("read_all into a string keeps what it has read when its coroutine is killed", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  hocket::event begun;
  std::string text;
  auto unwinds = [&]() -> typename Kind::body {
    auto sent = co_await near.write_all("kept");
    CHECK(sent.has_value());
    for (int i = 0; i != 1000 && text != "kept"; ++i) {
      auto part = co_await hocket::within(1ms, hocket::read_all(far, text));
      CHECK(part.error_or({}) == std::errc::timed_out);
    }
    begun.set();
    static_cast<void>(co_await hocket::read_all(far, text));
    CHECK_MESSAGE(false, "the coroutine went on after its kill");
  };
  const int unwound = world.start(unwinds);
  auto kill = [&]() -> typename Kind::body {
    auto set = co_await begun.wait();
    CHECK(set.has_value());
    world.kill(unwound);
  };
  world.start(kill);
  world.finish();
  CHECK(world.ended(unwound) == fate::killed);
  CHECK(text == "kept");
}

TEST_CASE_TEMPLATE("read_all into a string has a limit for the whole string", Kind, HOCKET_IO_KINDS) {
  for (const std::size_t before : {0u, 5u, 5000u}) {
    for (const std::size_t more : {0u, 1u, 4096u}) {
      typename Kind::wires net;
      auto [near, far] = net.connected();
      auto [other, longer] = net.connected();
      Kind world(net);
      auto work = [&]() -> typename Kind::body {
        std::string text(before, 'b');
        const std::string just(more, 'j');
        auto sent = co_await near.write_all(just);
        CHECK(sent == more);
        near.close();
        auto all = co_await hocket::read_all(far, text, before + more);
        CHECK(all == more);
        CHECK(text == std::string(before, 'b') + just);
        sent = co_await other.write_all("lllll");
        CHECK(sent == std::size_t{5});
        text.assign(before, 'b');
        all = co_await hocket::read_all(longer, text, before + 4);
        CHECK(all.error_or({}) == std::errc::message_size);
        CHECK(text == std::string(before, 'b') + "lllll");
        all = co_await hocket::read_all(longer, text, before + 4);
        CHECK(all.error_or({}) == std::errc::message_size);
        CHECK(text == std::string(before, 'b') + "lllll");
      };
      const int worker = world.start(work);
      world.finish();
      CHECK(world.ended(worker) == fate::ended);
    }
  }
}

TEST_CASE_TEMPLATE("read_all of no stream is an error", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  Kind world(net);
  auto work = [&]() -> typename Kind::body {
    hocket::stream none;
    auto all = co_await hocket::read_all(none);
    CHECK(all.error_or({}) == std::errc::bad_file_descriptor);
    std::string text = "as it was";
    auto more = co_await hocket::read_all(none, text);
    CHECK(more.error_or({}) == std::errc::bad_file_descriptor);
    CHECK(text == "as it was");
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

}  // namespace hocket_test
